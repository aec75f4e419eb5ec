import { expect, test } from 'vitest'
import { chainId } from '../../../src/ledger/chains.ts'
import { present } from '../../../src/lib/assert.ts'
import type { AccountOutput, DelegationOutput, Output } from '../../../src/protocol/outputs.ts'
import type { AccountId, Id } from '../../../src/protocol/primitives.ts'
import { epochOfSlot, maxSlot } from '../../../src/protocol/slots.ts'
import { graphql } from '../../support/client.ts'
import { defaultDatabase, openedStore } from '../../support/databases.ts'
import {
  fundFromFaucet,
  type Moment,
  startWorld,
  worldParameters,
} from '../../support/ledger-world.ts'
import { makeTransaction, playerOf } from '../../support/player.ts'
import { balanced, boundsOf, type Draft, plain } from '../../support/player-coins.ts'
import { createRandom } from '../../support/random.ts'

/**
 * Tests a delegation that ends after the account that it delegates to has lost its entry in the accounts ledger, and with the entry the
 * count of its delegations. A node subtracts the delegation nevertheless.
 */

const zero = `0x${'00'.repeat(32)}` as const
const player = playerOf(1)
const [address] = player.addresses
const [key] = player.keys

test('a delegation that ends after the entry of its account leaves a pool without delegations, and epochs that can be read', async () => {
  const database = await defaultDatabase().create()
  const world = await startWorld({ DATABASE_URL: database.url })
  const random = createRandom(1)
  await fundFromFaucet(world, [plain(address, 200_000_000n)])

  async function move(draftOf: (moment: Moment) => Draft): Promise<readonly Output[]> {
    await world.pass(5)
    const moment = await world.moment()
    const coins = world.outputs.filter(({ spentSlot }) => spentSlot === undefined)
    const plan = present(balanced({ player, moment, random, coins }, draftOf(moment)), 'a plan')
    const made = makeTransaction(player, moment, plan)
    await world.submit(moment, made.payload)
    world.note(moment.slot, made)
    return plan.outputs
  }

  function coinOf(type: Output['type']) {
    const coin = world.outputs.find(
      (one) => one.output.type === type && one.spentSlot === undefined,
    )
    return present(coin, 'a coin')
  }

  const changeAccount = (features: AccountOutput['features'], credits: AccountId[]) => {
    const coin = coinOf(1)
    const next = { ...coin.output, accountId, features } as AccountOutput
    return { name: 'change', spends: [{ coin, by: address }], outputs: [next], credits }
  }

  const ask = async (query: string) => (await graphql(world.gateway.url, query)).data
  const entry = async () => {
    const { account } = await ask(`{ account(id: "${accountId}") { entry { delegationStake } } }`)
    return account.entry
  }

  await move((moment) => ({
    name: 'create',
    spends: [],
    outputs: [
      {
        ...{ type: 1, amount: 2_000_000n, mana: 0n, accountId: zero as AccountId },
        foundryCounter: 0,
        unlockConditions: [{ type: 0, address }],
        features: [issuing(boundsOf(moment).latest)],
        immutableFeatures: [],
      },
    ],
  }))
  const created = coinOf(1)
  const accountId = chainId(created.output, created.outputId) as AccountId
  await move((moment) => ({
    name: 'delegate',
    spends: [],
    outputs: [
      {
        ...{ type: 5, amount: 50_000_000n, delegatedAmount: 50_000_000n, endEpoch: 0 },
        delegationId: zero as Id<'DelegationId'>,
        validatorAddress: { type: 8, accountId },
        startEpoch: epochOfSlot(worldParameters, boundsOf(moment).latest) + 1,
        unlockConditions: [{ type: 0, address }],
      } satisfies DelegationOutput,
    ],
  }))
  await world.pass(5)
  expect(await entry()).toEqual({ delegationStake: '50000000' })

  // The right to issue blocks has expired by now. Its end deletes the entry.
  await move(() => changeAccount([], [accountId]))
  await world.pass(5)
  expect(await entry()).toBeNull()
  await move(() => ({
    name: 'endDelegation',
    spends: [{ coin: coinOf(5), by: address }],
    outputs: [],
    rewards: [0],
  }))
  await world.pass(5)
  expect(await entry()).toEqual({ delegationStake: '0' })

  // The account stakes again and is a candidate.
  await move((moment) => {
    const startEpoch = epochOfSlot(worldParameters, boundsOf(moment).latest)
    const stake = { stakedAmount: 1_000_000n, fixedCost: 0n, startEpoch, endEpoch: startEpoch + 30 }
    return changeAccount([issuing(maxSlot), { type: 7, ...stake }], [])
  })
  await world.pass(6)
  const moment = await world.moment()
  await world.submit(moment, { type: 2 }, { key, accountId })
  const next = epochOfSlot(worldParameters, moment.slot) + 1
  await world.pass(2 ** worldParameters.slotsPerEpochExponent)
  await world.pass(2 ** worldParameters.slotsPerEpochExponent)
  const { epoch } = await ask(
    `{ epoch(index: ${next}) { committee { totalStake members { accountId poolStake poolReward } } } }`,
  )
  expect(epoch.committee.totalStake).toBe('101000000')
  const poolOfAccount = { accountId, poolStake: '1000000', poolReward: '0' }
  expect(epoch.committee.members).toContainEqual(poolOfAccount)
  await world.close()
  const store = await openedStore(database.url)
  expect(await store.read.epochs(next)).not.toEqual([])
  await store.close()
  await database.remove()
})

/** A block issuer feature. */
function issuing(expirySlot: number) {
  const blockIssuerKeys = [{ type: 0, pubKeyHash: key.publicKeyHash }] as const
  return { type: 6, expirySlot, blockIssuerKeys } as const
}
