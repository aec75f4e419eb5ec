import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hexToBytes } from '../../../../src/lib/hex.ts'
import { accountIdOfKey, developmentKeys } from '../../../../src/node/embedded/development.ts'
import { encodeBech32 } from '../../../../src/protocol/bech32.ts'
import { graphql } from '../../../support/client.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'
import { issuer, untilHealth } from '../../../support/wallet.ts'

const nodeKey = developmentKeys().issuer
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
  await untilHealth(gateway.url)
})
afterAll(() => gateway.close())

async function ask(id: string, fields: string) {
  return graphql(gateway.url, `query ($id: AccountId!) { account(id: $id) { ${fields} } }`, { id })
}

describe('an account', () => {
  test('has an entry with its keys, its credits and its stake', async () => {
    const entry = `milestoneIndex credits updatedSlot expirySlot keyHashes validatorStake
      delegationStake fixedCost stakeEndEpoch`
    const { data } = await ask(
      accountIdOfKey(nodeKey),
      `accountId entry(milestoneIndex: 0) { ${entry} }`,
    )
    expect(data.account).toEqual({
      accountId: accountIdOfKey(nodeKey),
      entry: {
        milestoneIndex: 0,
        credits: `${2n ** 63n / 5n}`,
        updatedSlot: 0,
        expirySlot: 2 ** 32 - 1,
        keyHashes: [nodeKey.publicKeyHash],
        validatorStake: '100000000',
        delegationStake: '0',
        fixedCost: '0',
        stakeEndEpoch: 2 ** 32 - 1,
      },
    })
  })

  test('has an output, and an address that can own outputs', async () => {
    const output =
      'output { isSpent content { __typename ... on AccountOutput { accountId amount } } }'
    const fields = `entry { milestoneIndex } ${output} address { bech32 balance { total } }`
    const { data } = await ask(issuer.accountId, fields)
    expect(data.account.entry.milestoneIndex).toBeGreaterThan(0)
    expect(data.account).toMatchObject({
      output: {
        isSpent: false,
        content: { __typename: 'AccountOutput', accountId: issuer.accountId, amount: '100000000' },
      },
      address: {
        bech32: encodeBech32('tst', Uint8Array.of(8, ...hexToBytes(issuer.accountId))),
        balance: { total: '0' },
      },
    })
  })

  test('is null for an unknown id', async () => {
    expect((await ask(`0x${'12'.repeat(32)}`, 'accountId')).data).toEqual({ account: null })
  })

  test('has no entry at a future milestone, and keeps its other fields', async () => {
    const entry = `entry(milestoneIndex: ${2 ** 32 - 1}) { credits }`
    const { data, errors } = await ask(issuer.accountId, `accountId ${entry}`)
    expect(data.account).toEqual({ accountId: issuer.accountId, entry: null })
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['account', 'entry'], 'MILESTONE_NOT_COMMITTED'],
    ])
  })

  test('has the entries of two milestones in one response', async () => {
    const { data } = await ask(
      accountIdOfKey(nodeKey),
      'id now: entry { milestoneIndex } first: entry(milestoneIndex: 0) { milestoneIndex }',
    )
    expect(data.account.first.milestoneIndex).toBe(0)
    expect(data.account.now.milestoneIndex).toBeGreaterThan(0)
  })
})
