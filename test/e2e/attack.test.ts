import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { attacks } from '../attack/attacks.ts'
import { ownClient } from '../attack/from-address.ts'
import { type AttackedGateway, fillLedger, startAttackedGateway } from '../attack/gateway.ts'
import { runAttack } from '../attack/run-attack.ts'

/** Runs each attack of `npm run attack` briefly on a process with little memory and few file descriptors. Nothing is timed. */
describe.runIf(process.platform === 'linux')('a gateway under attack', () => {
  // The attacks come from another address.
  const other = ownClient('127.0.1.1')
  let gateway: AttackedGateway
  beforeAll(async () => {
    gateway = await startAttackedGateway()
    await fillLedger(gateway.url)
  })
  afterAll(() => gateway.end())

  test.each(attacks)('survives $name and still serves another client', async (attack) => {
    const { faults } = await runAttack(gateway, attack, { scale: 0.05, milliseconds: 0 })
    expect(faults).toEqual([])
    const answer = await other.ask(`${gateway.url}/graphql?query={__typename}`)
    expect(answer).toMatchObject({ status: 200, text: '{"data":{"__typename":"Query"}}' })
  })

  test('logs no error', () => {
    const lines = gateway
      .logged()
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
    const levels = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
    expect(levels).toEqual([])
  })
})
