import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hexToBytes } from '../../../../src/lib/hex.ts'
import { encodeBech32 } from '../../../../src/protocol/bech32.ts'
import type { AccountOutput } from '../../../../src/protocol/outputs.ts'
import { maxSlot } from '../../../../src/protocol/slots.ts'
import { askBothWays } from '../../../support/both-ways.ts'
import { startFromGenesis } from '../../../support/genesis-gateway.ts'
import { changing, endFollower, passOn, startFollower } from '../../../support/odd-node.ts'
import { rest, restJson } from '../../../support/rest.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'
import { testId } from '../../../support/store-rows.ts'
import { offerOf, untilCommitted, untilHealth, user } from '../../../support/wallet.ts'

/** Accounts with stake since the genesis, two of them with the same stake. */
const stakes = [500n, 300n, 300n, 200n, 100n].map((stake, n) => ({
  accountId: testId<'AccountId'>('AccountId', 32, n),
  stake: stake * 1_000_000n,
  fixedCost: BigInt(n),
}))

const outputs = stakes.map(({ accountId, stake, fixedCost }): AccountOutput => {
  const { publicKeyHash: pubKeyHash } = user(2)
  return {
    ...{ type: 1, amount: stake + 1_000_000n, mana: 0n, accountId, foundryCounter: 0 },
    unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash } }],
    features: [
      { type: 6, expirySlot: maxSlot, blockIssuerKeys: [{ type: 0, pubKeyHash }] },
      { type: 7, stakedAmount: stake, fixedCost, startEpoch: 0, endEpoch: maxSlot },
    ],
    immutableFeatures: [],
  }
})

/** By the definition of the list: the largest pool first, and of equal pools the greatest id first. */
const sorted = stakes.toSorted(
  (a, b) => Number(b.stake - a.stake) || (a.accountId < b.accountId ? 1 : -1),
)

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startFromGenesis(outputs)
  const { header } = await offerOf(gateway.url)
  await untilCommitted(gateway.url, header.latestFinalizedSlot + 1)
})
afterAll(() => gateway.close())

const ask = (document: string) => askBothWays(gateway.url, document)

const page = `nodes { accountId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`

describe('validators', () => {
  test('are listed with their stakes, the largest pool first', async () => {
    const { data } =
      await ask(`{ validators(first: 1000) { nodes { accountId poolStake validatorStake
      delegationStake fixedCost stakeEndEpoch supportedVersion account { chainId } delegations { nodes { chainId } } } } }`)
    expect(data.validators.nodes).toEqual(
      sorted.map(({ accountId, stake, fixedCost }) => ({
        ...{ accountId, poolStake: `${stake}`, validatorStake: `${stake}`, delegationStake: '0' },
        ...{ fixedCost: `${fixedCost}`, stakeEndEpoch: maxSlot, supportedVersion: 0 },
        ...{ account: { chainId: accountId }, delegations: { nodes: [] } },
      })),
    )
  })

  test('are listed page by page, in both directions', async () => {
    const forward: unknown[] = []
    for (let after = ''; ; ) {
      const { data } = await ask(`{ validators(first: 2${after}) { ${page} } }`)
      const { nodes, pageInfo } = data.validators
      expect(pageInfo.hasPreviousPage).toBe(forward.length > 0)
      forward.push(...nodes)
      if (!pageInfo.hasNextPage) break
      after = `, after: "${pageInfo.endCursor}"`
    }
    const backward: unknown[] = []
    for (let before = ''; ; ) {
      const { data } = await ask(`{ validators(last: 2${before}) { ${page} } }`)
      const { nodes, pageInfo } = data.validators
      expect(pageInfo.hasNextPage).toBe(backward.length > 0)
      backward.unshift(...nodes)
      if (!pageInfo.hasPreviousPage) break
      before = `, before: "${pageInfo.startCursor}"`
    }
    const expected = sorted.map(({ accountId }) => ({ accountId }))
    expect([forward, backward]).toEqual([expected, expected])
    // First the first three, then the last one of them.
    const { data } = await ask(`{ validators(first: 3, last: 1) { ${page} } }`)
    expect(data.validators).toMatchObject({
      nodes: expected.slice(2, 3),
      pageInfo: { hasPreviousPage: true, hasNextPage: true },
    })
  })

  test('of an epoch are those that the node API lists as registered', async () => {
    const { data } = await ask(
      '{ epoch { index } validators { nodes { accountId isCandidate isInCommittee } } }',
    )
    const { index } = data.epoch
    const { url } = gateway
    const registered = await restJson(`${url}/api/core/v3/validators`)
    const committee = await restJson(`${url}/api/core/v3/committee?epochIndex=${index}`)
    const addressesOf = (list: { address: string }[]) => list.map(({ address }) => address)
    const addressOf = (id: string) =>
      encodeBech32('tst', Uint8Array.of(8, ...hexToBytes(`0x${id.slice(2)}`)))
    for (const { accountId, isCandidate, isInCommittee } of data.validators.nodes) {
      const address = addressOf(accountId)
      expect(isCandidate).toBe(addressesOf(registered.validators).includes(address))
      expect(isInCommittee).toBe(addressesOf(committee.committee).includes(address))
    }
    const { data: ofEpoch } = await ask(`{ validators(epoch: ${index}) { nodes { accountId } } }`)
    expect(ofEpoch.validators.nodes).toHaveLength(registered.validators.length)
  })

  test('are found by id; an account without stake is null, and a future epoch an error', async () => {
    const [first] = sorted
    const { data } = await ask(`{
      one: validator(id: "${first?.accountId}") { validatorStake }
      none: validator(id: "0x${'12'.repeat(32)}") { validatorStake }
      future: epoch(index: 4000000) { index }
    }`)
    expect(data).toEqual({ one: { validatorStake: `${first?.stake}` }, none: null, future: null })
    const { errors, data: nothing } = await ask(
      '{ validators(epoch: 4000000) { nodes { accountId } } }',
    )
    expect(nothing).toEqual({ validators: null })
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['EPOCH_NOT_BEGUN'])
    const sizes = await ask('{ validators(first: 1001) { nodes { accountId } } }')
    expect(sizes.errors?.map(({ extensions }) => extensions.code)).toEqual([
      'PAGE_SIZE_OUT_OF_RANGE',
    ])
    const cursor = await ask('{ validators(after: "x") { nodes { accountId } } }')
    expect(cursor.errors?.map(({ extensions }) => extensions)).toMatchObject([
      { code: 'CURSOR_MALFORMED', argument: 'after' },
    ])
  })
})

describe('an epoch', () => {
  test('has its slots and the committee of the node API', async () => {
    const { data } = await ask(`{ epoch(index: 0) { index firstSlot lastSlot isOver committee {
      totalStake totalValidatorStake targetReward
      members { accountId poolStake validatorStake fixedCost poolReward account { chainId } } } } }`)
    const { url } = gateway
    const { committee, totalStake, totalValidatorStake } = await restJson(
      `${url}/api/core/v3/committee?epochIndex=0`,
    )
    const { protocolParameters } = await restJson(`${url}/api/core/v3/info`)
    const { slotsPerEpochExponent } = protocolParameters[0].parameters
    expect(data.epoch).toMatchObject({
      ...{ index: 0, firstSlot: 0, lastSlot: 2 ** slotsPerEpochExponent - 1, isOver: false },
      committee: { totalStake, totalValidatorStake, targetReward: null },
    })
    expect(committee.length).toBeGreaterThan(0)
    const { members } = data.epoch.committee
    expect(members).toHaveLength(committee.length)
    for (const [i, { address, poolStake, validatorStake, fixedCost }] of committee.entries()) {
      expect(members[i]).toMatchObject({ poolStake, validatorStake, fixedCost, poolReward: null })
      const { accountId } = members[i]
      expect(address).toBe(encodeBech32('tst', Uint8Array.of(8, ...hexToBytes(accountId))))
    }
  })
})

test('a gateway that follows a node has the stakes and committees of that node', async () => {
  const env = { LEDGER: 'upstream', UPSTREAM_URLS: gateway.url }
  const follower = await startGateway({ env })
  await untilHealth(follower.url)
  const accountId = stakes[0]?.accountId
  const stake = `accountId poolStake validatorStake delegationStake fixedCost stakeEndEpoch
    isCandidate isInCommittee supportedVersion account { chainId }`
  const document = `{ validators { nodes { ${stake} } pageInfo { hasNextPage endCursor } }
    page: validators(last: 1) { nodes { accountId } pageInfo { hasPreviousPage } }
    validator(id: "${accountId}") { ${stake} } none: validator(id: "${testId('AccountId', 32, 99)}") { accountId }
    epoch(index: 0) { firstSlot committee { totalStake totalValidatorStake targetReward
      members { accountId poolStake validatorStake fixedCost poolReward } } }
    account(id: "${accountId}") { isDestroyed history { totalCount } entry { credits } } }`
  const own = (await ask(document)).data
  const { data, errors } = await askBothWays(follower.url, document)
  // A node lists only the accounts that announced their candidacy.
  const candidates = own.validators.nodes.filter((one: { isCandidate: boolean }) => one.isCandidate)
  expect(data.validators.nodes).toEqual(candidates)
  expect(data).toMatchObject({
    page: {
      nodes: candidates.slice(-1).map(({ accountId }: { accountId: string }) => ({ accountId })),
    },
    validator: own.validator,
    none: null,
    epoch: own.epoch,
    account: { isDestroyed: false, history: { totalCount: '1' }, entry: null },
  })
  expect(own.epoch.committee.members.length).toBeGreaterThan(0)
  expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
    ['account.entry', 'NOT_OFFERED_BY_NODES'],
  ])
  const former = await askBothWays(follower.url, '{ validators(epoch: 0) { nodes { accountId } } }')
  expect(former.data).toEqual({ validators: null })
  expect(former.errors?.map(({ extensions }) => extensions.code)).toEqual(['NOT_OFFERED_BY_NODES'])
  await follower.close()
})

test('a gateway requests the committee of an epoch by the name that iota-core knows', async () => {
  const follower = await startFollower(gateway.url, passOn, {})
  const { gateway: own, node } = follower
  await untilHealth(own.url)
  const askedBy = async (ask: () => Promise<unknown>) => {
    const before = node.asked.length
    await ask()
    return node.asked.slice(before).filter((path) => path.includes('/committee'))
  }
  const committee = '/api/core/v3/committee'
  const document = '{ epoch(index: 0) { committee { totalStake } } }'
  expect(await askedBy(() => askBothWays(own.url, document))).toContain(`${committee}?epoch=0`)
  for (const query of ['epoch=0', 'epochIndex=0', 'epochIndex=1&epoch=0']) {
    const asked = await askedBy(() => restJson(`${own.url}${committee}?${query}`))
    expect(asked).toEqual([`${committee}?epoch=0`])
  }
  // The node is in epoch 1 before its first slot is committed, and names that epoch in its own responses.
  const next = { epoch: 1, totalStake: '0', totalValidatorStake: '0', committee: [] }
  node.spoilBy((path, answer) =>
    path === `${committee}?epoch=1` ? { status: 200, body: JSON.stringify(next) } : answer,
  )
  expect(await restJson(`${own.url}${committee}?epoch=1`)).toEqual(next)
  const { error } = await (await rest(`${own.url}${committee}?epoch=2`)).json()
  expect(error).toEqual({ code: 400, message: expect.stringContaining('epoch 2 has not begun') })
  // A node that does not know the parameter returns the committee of the current epoch.
  node.spoilBy(changing(`${committee}?epoch=0`, (json) => ({ ...json, epoch: 7 })))
  const { data, errors } = await askBothWays(own.url, '{ validators { nodes { accountId } } }')
  expect(data).toEqual({ validators: null })
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['NOT_TOLD_BY_NODE'])
  await endFollower(follower)
})

test('a pool that a node reports as smaller than the stake of its validator has no delegations', async () => {
  const follower = await startFollower(gateway.url, passOn, {})
  const { gateway: own, node } = follower
  await untilHealth(own.url)
  node.spoilBy((path, answer) => {
    if (!path.startsWith('/api/core/v3/validators')) return answer
    const poolStakes = /"poolStake":"\d+"/g
    return { ...answer, body: String(answer.body).replaceAll(poolStakes, '"poolStake":"1"') }
  })
  const document = `{ validator(id: "${stakes[0]?.accountId}") { poolStake delegationStake } }`
  const { data, errors } = await askBothWays(own.url, document)
  expect(errors).toBeUndefined()
  expect(data.validator).toEqual({ poolStake: '1', delegationStake: '0' })
  await endFollower(follower)
})
