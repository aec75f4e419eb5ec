import { describe, expect, test } from 'vitest'
import { assert } from '../../../src/lib/assert.ts'
import { bytesToHex, hexToBytes } from '../../../src/lib/hex.ts'
import {
  accountIdOfKey,
  developmentGenesis,
  developmentKeys,
} from '../../../src/node/embedded/development.ts'
import type { GenesisPlan } from '../../../src/node/genesis.ts'
import { buildBlock, type IssuerAccount } from '../../../src/node/issuer.ts'
import { Block } from '../../../src/protocol/block.ts'
import { identifyBlock } from '../../../src/protocol/ids.ts'
import type { Keypair } from '../../../src/protocol/keys.ts'
import { type AccountOutput, DelegationOutput, Output } from '../../../src/protocol/outputs.ts'
import type { AccountId, Id } from '../../../src/protocol/primitives.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import { maxSlot, slotOfTime } from '../../../src/protocol/slots.ts'
import { openClaims } from '../../../src/service/accounts/mana-rewards.ts'
import { createStakers } from '../../../src/service/accounts/stakers.ts'
import { listValidators } from '../../../src/service/accounts/validators.ts'
import { readRewards } from '../../../src/service/chains/delegation-reward.ts'
import { viewOfOutput } from '../../../src/service/outputs/read-output.ts'
import { databases } from '../../support/databases.ts'
import { openEmbeddedLedger } from '../../support/embedded-ledger.ts'
import { outputIdOf } from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'
import { user } from '../../support/wallet.ts'

/** Tests committees over several epochs: an account that announces in time is chosen, and no other (ledger reference 12.5). */

const startSeconds = 1_800_000_000
const keys = developmentKeys()
const [large, small, brief] = [user(0), user(1), user(2)]
const idOf = accountIdOfKey

/** Epochs of 32 slots. The first 64 slots are before the start, so epoch 2 begins at the start. */
const epoch = { exponent: 5, nearing: 8 }

/** Returns a genesis with three stakes: a large one, a small one, and one that ends with epoch 2. */
function plan(): GenesisPlan {
  const usual = developmentGenesis(keys, startSeconds)
  const [faucet, validator, issuer, ...funds] = usual.outputs
  assert(faucet?.type === 0 && validator?.type === 1 && issuer?.type === 1, 'the usual outputs')
  const accounts = [
    staking(issuer, large, { stakedAmount: 90_000_000n, endEpoch: 0xffff_ffff }),
    staking(issuer, small, { stakedAmount: 50_000_000n, endEpoch: 0xffff_ffff }),
    staking(issuer, brief, { stakedAmount: 95_000_000n, endEpoch: 2 }),
  ]
  const rest = { ...faucet, amount: faucet.amount - 100_000_000n }
  const { parameters } = usual
  return {
    parameters: {
      ...parameters,
      slotsPerEpochExponent: epoch.exponent,
      epochNearingThreshold: epoch.nearing,
    },
    outputs: [rest, ...accounts, ...funds],
    credits: new Map([large, small, brief].map((key) => [idOf(key), 2n ** 60n])),
  }
}

function staking(
  like: AccountOutput,
  key: Keypair,
  stake: { readonly stakedAmount: bigint; readonly endEpoch: number },
): AccountOutput {
  const { publicKeyHash: pubKeyHash } = key
  return {
    ...like,
    accountId: idOf(key),
    unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash } }],
    features: [
      { type: 6, expirySlot: maxSlot, blockIssuerKeys: [{ type: 0, pubKeyHash }] },
      { type: 7, ...stake, fixedCost: 0n, startEpoch: 0 },
    ],
  }
}

async function openLedger(url: string, issuer?: IssuerAccount) {
  const ledger = await openEmbeddedLedger(url, { startSeconds, genesis: plan(), issuer })
  const { clock } = ledger

  /** Advances the clock until a slot is due, and waits for its commit. */
  async function commit(slot: number): Promise<void> {
    const { source } = ledger.at()
    const due = slot + source.network.parameters.minCommittableAge
    while (source.status().slot < due) clock.advance(1_000_000_000n)
    await ledger.untilCommitted(slot)
  }

  /** Announces the candidacy of an account in the current slot. */
  async function announce(key: Keypair): Promise<void> {
    const { source } = ledger.at()
    const issuance = await source.issuance()
    assert(issuance.ok, 'a block can be issued')
    const request = { issuance: issuance.value, payload: { type: 2 } } as const
    const account = { accountId: idOf(key), key }
    const block = buildBlock({ clock, network: source.network }, account, request)
    const bytes = encode(Block, block)
    const slot = slotOfTime(source.network.parameters, block.header.issuingTime)
    const { blockId } = identifyBlock(bytes, slot)
    const submitted = await source.submit({ block, bytes, blockId, slot, transaction: undefined })
    expect(submitted).toEqual({ ok: true, value: 'ACCEPTED' })
  }

  return {
    commit,
    announce,
    slot: () => ledger.at().source.status().slot,
    epochs: async () => {
      const rows = await ledger.at().store.read.epochs(0)
      return rows.map(({ committee, candidates }) => ({
        committee: committee.map(({ accountId }) => nameOf(accountId)),
        candidates: candidates.map(nameOf),
      }))
    },
    announcements: async () => {
      const blocks = await ledger.at().store.read.recentBlocks(1_000)
      return blocks.filter(({ kind }) => kind === 'candidacy').length
    },
    validators: async () => {
      const { store, source } = ledger.at()
      const deps = { store, source, stakers: createStakers(store.read) }
      const page = await listValidators(deps, { after: undefined, pageSize: 10 })
      assert(page.ok, 'a page')
      return page.value.validators.map(({ poolStake, active }) => [poolStake, active])
    },
    at: ledger.at,
    restart: ledger.restart,
    close: ledger.close,
  }
}

function nameOf(accountId: AccountId): string {
  const named = Object.entries({ large, small, brief }).find(([, key]) => idOf(key) === accountId)
  return named?.[0] ?? accountId
}

const first = ['brief', 'large', 'small']

describe.each(databases)('committees on $name', ({ create }) => {
  test('consist of the accounts that announced in time, also across restarts, and stay if none did', async () => {
    const database = await create()
    const ledger = await openLedger(database.url)
    await ledger.commit(64)
    expect(await ledger.validators()).toEqual([])
    await ledger.announce(small)
    await ledger.announce(small)
    // Its stake ends with this epoch.
    await ledger.announce(brief)
    // The validator is listed as soon as the block is accepted, and after its commit.
    await until(async () => (await ledger.validators()).length > 0)
    const listed = [[50_000_000n, true]]
    expect(await ledger.validators()).toEqual(listed)
    await ledger.commit(ledger.slot())
    expect(await ledger.validators()).toEqual(listed)
    await ledger.restart()
    // The last slot that counts is 95 - 8; a later candidacy is too late.
    await ledger.commit(95 - 8 - 3)
    expect(ledger.slot()).toBe(95 - 8)
    await ledger.commit(95 - 8 - 2)
    await ledger.announce(large)
    await ledger.commit(95 - 8 - 1)
    expect(await ledger.epochs()).toHaveLength(3)
    await ledger.commit(95 - 8)
    expect((await ledger.epochs()).slice(2)).toEqual([
      { committee: first, candidates: ['small'] },
      { committee: ['small'], candidates: [] },
    ])
    // No account announces in epoch 3, and two do in epoch 4, in the last slot that counts.
    await ledger.commit(159 - 8 - 3)
    expect(ledger.slot()).toBe(159 - 8)
    await ledger.announce(small)
    await ledger.restart()
    await ledger.announce(large)
    await ledger.commit(160)
    expect(await ledger.validators()).toEqual([])
    expect(await ledger.epochs()).toEqual([
      { committee: first, candidates: [] },
      { committee: first, candidates: [] },
      { committee: first, candidates: ['small'] },
      { committee: ['small'], candidates: [] },
      { committee: ['small'], candidates: ['small', 'large'] },
      { committee: ['large', 'small'], candidates: [] },
    ])
    await ledger.close()
    await database.remove()
  }, 120_000)

  test("contain the writer's own account, which announces once per epoch while it stakes", async () => {
    const database = await create()
    const ledger = await openLedger(database.url, { accountId: idOf(small), key: small })
    for (let slot = 64; slot <= 100; slot++) {
      await ledger.commit(slot)
      if (slot === 66) await ledger.restart()
    }
    expect(await ledger.announcements()).toBe(2)
    const epochs = await ledger.epochs()
    expect(epochs.slice(2)).toEqual([
      { committee: first, candidates: ['small'] },
      { committee: ['small'], candidates: ['small'] },
    ])
    await ledger.close()
    await database.remove()
  }, 120_000)

  test('pay hundreds of delegations at once with one read of their epochs', async () => {
    const database = await create()
    const ledger = await openLedger(database.url)
    await ledger.commit(100)
    const { store, source } = ledger.at()
    let reads = 0
    const read = {
      ...store.read,
      epochs: (from: number) => {
        reads++
        return store.read.epochs(from)
      },
    }
    const delegations = Array.from({ length: 300 }, (_, n) => delegationTo(large, n))
    const spent = { ...delegationTo(large, 300), current: undefined }
    const deps = { store: { ...store, read }, source }
    const rewards = await readRewards(deps, [...delegations, spent])
    expect(reads).toBe(1)
    expect(rewards.at(-1)).toEqual({ ok: true, value: undefined })
    const claimOf = await openClaims({ store, source }, 100)
    const expected = delegations.map(({ current }) => claimOf(current))
    expect(rewards.slice(0, -1)).toEqual(expected)
    // No validator was active, so there is nothing to share; the epochs that are over count nevertheless.
    expect(expected[0]).toMatchObject({ ok: true, value: { rewards: 0n, endEpoch: 2 } })
    await ledger.close()
    await database.remove()
  }, 120_000)
})

/** Returns the nth delegation to a validator, since the first epoch. */
function delegationTo(key: Keypair, n: number) {
  const current = viewOfOutput({
    outputId: outputIdOf(n),
    bytes: encode(Output, {
      ...{ type: 5, amount: 1_000n, delegatedAmount: 1_000n + BigInt(n) },
      delegationId: `0x${'00'.repeat(32)}` as Id<'DelegationId'>,
      validatorAddress: { type: 8, accountId: idOf(key) },
      startEpoch: 0,
      endEpoch: 0,
      unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash: key.publicKeyHash } }],
    } as DelegationOutput),
    blockId: undefined,
    bookedSlot: 0,
    spentSlot: undefined,
    spentBy: undefined,
  })
  const chainId = bytesToHex(hexToBytes(current.outputId).subarray(0, 32))
  return { kind: DelegationOutput.code, chainId, slot: 100, length: 1, last: current, current }
}
