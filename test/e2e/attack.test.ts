import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { attacks } from '../attack/attacks.ts'
import { type AttackedGateway, startAttackedGateway } from '../attack/gateway.ts'
import { runAttack } from '../attack/run-attack.ts'
import { graphql } from '../support/client.ts'

/** Each attack of `npm run attack`, briefly, on a process with little memory and few descriptors. Nothing here is timed. */
describe.runIf(process.platform === 'linux')('a gateway under attack', () => {
  let gateway: AttackedGateway
  beforeAll(async () => {
    gateway = await startAttackedGateway()
  })
  afterAll(() => gateway.end())

  test.each(attacks)('survives $name, and answers by name', async (attack) => {
    const { faults } = await runAttack(gateway, attack, { scale: 0.05, milliseconds: 0 })
    expect(faults).toEqual([])
    expect((await graphql(gateway.url, '{ __typename }')).data).toEqual({ __typename: 'Query' })
  })

  test('has logged no fault of its own', () => {
    const lines = gateway
      .logged()
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
    const levels = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
    expect(levels).toEqual([])
  })
})
