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

async function ask(id: string, fields: string, milestoneIndex?: number) {
  const query = `query ($id: AccountId!, $milestoneIndex: UInt32) {
    account(id: $id, milestoneIndex: $milestoneIndex) { ${fields} } }`
  return graphql(gateway.url, query, { id, milestoneIndex })
}

describe('an account', () => {
  test('has an entry with its keys, its credits and its stake', async () => {
    const entry = `credits updatedSlot expirySlot keyHashes validatorStake delegationStake fixedCost
      stakeEndEpoch`
    const { data } = await ask(
      accountIdOfKey(nodeKey),
      `accountId milestoneIndex entry { ${entry} }`,
      0,
    )
    expect(data.account).toEqual({
      accountId: accountIdOfKey(nodeKey),
      milestoneIndex: 0,
      entry: {
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
    const fields = `milestoneIndex ${output} address { bech32 balance { total } }`
    const { data } = await ask(issuer.accountId, fields)
    expect(data.account.milestoneIndex).toBeGreaterThan(0)
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

  test('is null for an unknown id, and refused for a future milestone', async () => {
    expect((await ask(`0x${'12'.repeat(32)}`, 'accountId')).data).toEqual({ account: null })
    const { errors } = await ask(issuer.accountId, 'accountId', 2 ** 32 - 1)
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['MILESTONE_NOT_COMMITTED'])
  })
})
