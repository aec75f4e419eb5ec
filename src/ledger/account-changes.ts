import { isDeepStrictEqual } from 'node:util'
import { assert } from '../lib/assert.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import type { Hex } from '../lib/hex.ts'
import { paused, runToCompletion, type Steps } from '../lib/turns.ts'
import { is } from '../protocol/is.ts'
import { AccountOutput, DelegationOutput, isZero, type Output } from '../protocol/outputs.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, OutputId, SlotIndex } from '../protocol/primitives.ts'
import {
  type AccountEntry,
  type AccountTerms,
  accountOf,
  accountTerms,
  emptyEntry,
} from './accounts.ts'
import { isImplicitAccount } from './chains.ts'
import { decayedMana, generatedMana } from './mana.ts'
import type { LedgerOutput } from './output-parts.ts'

/** The changes of a slot to the accounts ledger: credits, keys and stakes (ledger reference 12.2). */

/** The accepted content of a slot that concerns accounts. */
export interface AccountEvents {
  readonly slot: SlotIndex
  /** The allotments of all transactions booked in the slot. */
  readonly allotments: readonly { readonly accountId: AccountId; readonly mana: bigint }[]
  /**
   * Outputs created in the slot. Outputs that are both created and consumed are ignored. Outputs that concern no account may be
   * omitted.
   */
  readonly created: readonly LedgerOutput[]
  /** Outputs spent in the slot. */
  readonly consumed: readonly LedgerOutput[]
  /** In the order of issuing. */
  readonly blocks: readonly IssuedBlock[]
  /** Reference mana cost of the slot that `burnPriceSlot` returns, in mana per unit of work score. */
  readonly burnPrice: bigint
}

/** The parts of a block that concern accounts. A validation block names a protocol version and a parameters hash. */
export type IssuedBlock =
  | { readonly kind: 'basic'; readonly issuerId: AccountId; readonly workScore: number }
  | {
      readonly kind: 'validation'
      readonly issuerId: AccountId
      readonly version: number
      readonly hash: Hex
    }

/** The slot whose reference mana cost the blocks of a slot pay. Their `maxBurnedMana` does not matter. */
export function burnPriceSlot(parameters: ProtocolParameters, slot: SlotIndex): SlotIndex {
  return Math.max(slot - parameters.maxCommittableAge, parameters.genesisSlot)
}

/**
 * The entries that a slot changes, by account; `undefined` for a deleted entry. `entryOf` returns the entry at the end of the previous
 * slot. Linear in the events.
 */
export function changedAccounts(
  parameters: ProtocolParameters,
  entryOf: (accountId: AccountId) => AccountEntry | undefined,
  events: AccountEvents,
): ReadonlyMap<AccountId, AccountEntry | undefined> {
  return runToCompletion(
    accountChanges(parameters, entryOf, runToCompletion(accountShares(events))),
  )
}

/** The events of a slot by account. */
export interface AccountShares {
  readonly slot: SlotIndex
  readonly shares: ReadonlyMap<AccountId, Share>
}

/** Computes the changed entries from events that are grouped by account, in steps. */
export function* accountChanges(
  parameters: ProtocolParameters,
  entryOf: (accountId: AccountId) => AccountEntry | undefined,
  { slot, shares }: AccountShares,
): Steps<ReadonlyMap<AccountId, AccountEntry | undefined>> {
  const changed = new Map<AccountId, AccountEntry | undefined>()
  yield* paused(shares, ([accountId, share]) => {
    const former = entryOf(accountId)
    const next = nextEntry(parameters, former, { accountId, slot, ...share })
    if (!isDeepStrictEqual(former, next)) changed.set(accountId, next)
  })
  return changed
}

/** Whether the creation or spending of an output may change an account. Most outputs change none. */
export function concernsAccounts(output: Output): boolean {
  return is(DelegationOutput, output) || is(AccountOutput, output) || isImplicitAccount(output)
}

/** The events of a slot for one account. */
interface Share {
  /** Sum of the allotments; `undefined` without an allotment. */
  allotted: bigint | undefined
  /** Whether the output of the entry is consumed. */
  isConsumed: boolean
  /** The terms of the new output; `undefined` without an output that has an entry. */
  terms: AccountTerms | undefined
  /** Change of the delegated base tokens; `undefined` if no delegation begins or stops running. */
  delegated: bigint | undefined
  burned: bigint
  validationBlocks: number
  signal: { readonly version: number; readonly hash: Hex } | undefined
}

/** Groups the events of a slot by account, in steps. */
export function* accountShares(events: AccountEvents): Steps<AccountShares> {
  const shares = new Map<AccountId, Share>()
  const of = (accountId: AccountId): Share => {
    return getOrInsert(shares, accountId, () => ({ ...noShare }))
  }
  yield* paused(events.allotments, ({ accountId, mana }) => {
    const share = of(accountId)
    share.allotted = (share.allotted ?? 0n) + mana
  })
  const createdIds = new Set<OutputId>()
  const consumedIds = new Set<OutputId>()
  yield* paused(events.created, ({ outputId }) => createdIds.add(outputId))
  yield* paused(events.consumed, ({ outputId }) => consumedIds.add(outputId))
  yield* paused(events.consumed, (output) => {
    if (!createdIds.has(output.outputId)) addConsumed(output, of)
  })
  yield* paused(events.created, (output) => {
    if (!consumedIds.has(output.outputId)) addCreated(output, of)
  })
  yield* paused(events.blocks, (block) => {
    addBlock(block, of(block.issuerId), events.burnPrice)
  })
  return { slot: events.slot, shares }
}

const noShare: Share = {
  allotted: undefined,
  isConsumed: false,
  terms: undefined,
  delegated: undefined,
  burned: 0n,
  validationBlocks: 0,
  signal: undefined,
}

type ShareOf = (accountId: AccountId) => Share

function addConsumed({ output, outputId }: LedgerOutput, of: ShareOf): void {
  const accountId = accountOf(output, outputId)
  if (accountId !== undefined && accountTerms(output, outputId) !== undefined) {
    of(accountId).isConsumed = true
  }
  addDelegation(output, -1n, of)
}

function addCreated({ output, outputId }: LedgerOutput, of: ShareOf): void {
  const accountId = accountOf(output, outputId)
  if (accountId !== undefined) of(accountId).terms = accountTerms(output, outputId)
  addDelegation(output, 1n, of)
}

/** A delegation counts until it is delayed, which gives it a non-zero id. */
function addDelegation(output: Output, sign: bigint, of: ShareOf): void {
  if (!is(DelegationOutput, output) || !isZero(output.delegationId)) return
  const share = of(output.validatorAddress.accountId)
  share.delegated = (share.delegated ?? 0n) + sign * output.delegatedAmount
}

function addBlock(block: IssuedBlock, share: Share, burnPrice: bigint): void {
  if (block.kind === 'basic') {
    share.burned += BigInt(block.workScore) * burnPrice
    return
  }
  share.validationBlocks += 1
  const { version, hash } = block
  if (version > (share.signal?.version ?? -1)) share.signal = { version, hash }
}

/** The entry of one account at the end of the slot. */
function nextEntry(
  parameters: ProtocolParameters,
  former: AccountEntry | undefined,
  share: Share & { readonly accountId: AccountId; readonly slot: SlotIndex },
): AccountEntry | undefined {
  if (share.isConsumed && share.terms === undefined) return undefined
  const isConcerned =
    share.terms !== undefined || share.allotted !== undefined || share.delegated !== undefined
  const base = former ?? (isConcerned ? emptyEntry(share.accountId, share.slot) : undefined)
  if (base === undefined) return undefined
  const signal = (share.signal?.version ?? -1) > base.supportedVersion ? share.signal : undefined
  return {
    ...base,
    ...share.terms,
    ...creditsAfter(parameters, former, share),
    delegationStake: base.delegationStake + (share.delegated ?? 0n),
    supportedVersion: signal?.version ?? base.supportedVersion,
    supportedHash: signal?.hash ?? base.supportedHash,
  }
}

/**
 * Credits decay only when they change. Allotments to an account without an entry at the end of the previous slot are lost. Credits outside
 * of 64 bits wrap around, as in the node and in the stored entry.
 */
function creditsAfter(
  parameters: ProtocolParameters,
  former: AccountEntry | undefined,
  { slot, allotted, burned, validationBlocks }: Share & { readonly slot: SlotIndex },
): Pick<AccountEntry, 'credits' | 'updatedSlot'> {
  if (former === undefined) return { credits: BigInt.asIntN(64, -burned), updatedSlot: slot }
  const fine = fineFor(parameters, former.validatorStake, validationBlocks, slot)
  const change = (allotted ?? 0n) - burned - fine
  if (change === 0n) return { credits: former.credits, updatedSlot: former.updatedSlot }
  const credits = BigInt.asIntN(64, decayedCredits(parameters, former, slot) + change)
  return { credits, updatedSlot: slot }
}

/**
 * A debt decays as the unsigned 64-bit number that it is stored as, which makes the debt enormous after one epoch. The node does the
 * same; any other arithmetic would lead to a different account root.
 */
function decayedCredits(
  parameters: ProtocolParameters,
  { credits, updatedSlot }: AccountEntry,
  slot: SlotIndex,
): bigint {
  const left = decayedMana(parameters, BigInt.asUintN(64, credits), updatedSlot, slot)
  assert(left.ok, 'slots follow one another')
  return BigInt.asIntN(64, left.value)
}

/** The fine for too many validation blocks: for each excess block, the mana that the stake generates in `punishmentEpochs` epochs. */
function fineFor(
  parameters: ProtocolParameters,
  stake: bigint,
  validationBlocks: number,
  slot: SlotIndex,
): bigint {
  const excess = validationBlocks - parameters.validationBlocksPerSlot
  if (excess <= 0) return 0n
  const slots = parameters.punishmentEpochs * 2 ** parameters.slotsPerEpochExponent
  const fine = generatedMana(parameters, stake, slot, slot + slots)
  assert(fine.ok, 'a later slot is later')
  return BigInt(excess) * fine.value
}
