import { isDeepStrictEqual } from 'node:util'
import { assert } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import { atOnce, paused, type Steps } from '../lib/turns.ts'
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

/** How a slot changes the accounts ledger: credits, keys and stakes (ledger reference 12.2). */

/** What was accepted in a slot, as far as accounts are concerned. */
export interface AccountEvents {
  readonly slot: SlotIndex
  /** The allotments of all transactions booked in the slot. */
  readonly allotments: readonly { readonly accountId: AccountId; readonly mana: bigint }[]
  /**
   * Outputs booked in the slot, and outputs spent in it; what is in both is left out of account. Those that concern no account may be
   * left out.
   */
  readonly created: readonly LedgerOutput[]
  readonly consumed: readonly LedgerOutput[]
  /** In the order of issuing. */
  readonly blocks: readonly IssuedBlock[]
  /** Reference mana cost of the slot `burnPriceSlot` names: mana a unit of work score. */
  readonly burnPrice: bigint
}

/** An output and its id. */
export interface LedgerOutput {
  readonly outputId: OutputId
  readonly output: Output
}

/** A block as far as accounts are concerned; the version and the hash are what a validation block names. */
export type IssuedBlock =
  | { readonly kind: 'basic'; readonly issuerId: AccountId; readonly workScore: number }
  | {
      readonly kind: 'validation'
      readonly issuerId: AccountId
      readonly version: number
      readonly hash: Hex
    }

/** The slot whose reference mana cost the blocks of a slot pay, whatever they promised to burn at most. */
export function burnPriceSlot(parameters: ProtocolParameters, slot: SlotIndex): SlotIndex {
  return Math.max(slot - parameters.maxCommittableAge, parameters.genesisSlot)
}

/**
 * The entries that a slot changes, by account; `undefined` for those it deletes. `entryOf` gives them as they are
 * at the end of the slot before. Linear in the events.
 */
export function changedAccounts(
  parameters: ProtocolParameters,
  entryOf: (accountId: AccountId) => AccountEntry | undefined,
  events: AccountEvents,
): ReadonlyMap<AccountId, AccountEntry | undefined> {
  return atOnce(accountChanges(parameters, entryOf, atOnce(accountShares(events))))
}

/** What a slot has for each account that it concerns. */
export interface AccountShares {
  readonly slot: SlotIndex
  readonly shares: ReadonlyMap<AccountId, Share>
}

/** The same of events that are divided by account. */
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

/** Whether an output, created or consumed, may change an account; most change none. */
export function concernsAccounts(output: Output): boolean {
  return is(DelegationOutput, output) || is(AccountOutput, output) || isImplicitAccount(output)
}

/** What a slot has for one account. */
interface Share {
  /** `undefined` without any allotment. */
  allotted: bigint | undefined
  /** Whether the output of its entry ceased to be. */
  isConsumed: boolean
  /** What its new output says, where there is one that makes an entry. */
  terms: AccountTerms | undefined
  /** `undefined` without any delegation that begins or ceases to go on. */
  delegated: bigint | undefined
  burned: bigint
  validationBlocks: number
  signal: { readonly version: number; readonly hash: Hex } | undefined
}

/** Divides the events of a slot by account. */
export function* accountShares(events: AccountEvents): Steps<AccountShares> {
  const shares = new Map<AccountId, Share>()
  const of = (accountId: AccountId): Share => {
    const share = shares.get(accountId) ?? { ...noShare }
    shares.set(accountId, share)
    return share
  }
  yield* paused(events.allotments, ({ accountId, mana }) => {
    const share = of(accountId)
    share.allotted = (share.allotted ?? 0n) + mana
  })
  const createdIds = new Set<OutputId>()
  const consumedIds = new Set<OutputId>()
  yield* paused(events.created, ({ outputId }) => createdIds.add(outputId))
  yield* paused(events.consumed, ({ outputId }) => consumedIds.add(outputId))
  yield* paused(events.consumed, (one) => {
    if (!createdIds.has(one.outputId)) takeConsumed(one, of)
  })
  yield* paused(events.created, (one) => {
    if (!consumedIds.has(one.outputId)) takeCreated(one, of)
  })
  yield* paused(events.blocks, (block) => {
    takeBlock(block, of(block.issuerId), events.burnPrice)
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

function takeConsumed({ output, outputId }: LedgerOutput, of: ShareOf): void {
  const accountId = accountOf(output, outputId)
  if (accountId !== undefined && accountTerms(output, outputId) !== undefined) {
    of(accountId).isConsumed = true
  }
  delegate(output, -1n, of)
}

function takeCreated({ output, outputId }: LedgerOutput, of: ShareOf): void {
  const accountId = accountOf(output, outputId)
  if (accountId !== undefined) of(accountId).terms = accountTerms(output, outputId)
  delegate(output, 1n, of)
}

/** A delegation counts until it is delayed: from then on it has an id of its own. */
function delegate(output: Output, sign: bigint, of: ShareOf): void {
  if (!is(DelegationOutput, output) || !isZero(output.delegationId)) return
  const share = of(output.validatorAddress.accountId)
  share.delegated = (share.delegated ?? 0n) + sign * output.delegatedAmount
}

function takeBlock(block: IssuedBlock, share: Share, burnPrice: bigint): void {
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
  const isMet =
    share.terms !== undefined || share.allotted !== undefined || share.delegated !== undefined
  const base = former ?? (isMet ? emptyEntry(share.accountId, share.slot) : undefined)
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
 * Credits decay only when they change. What is allotted to an account that is not known yet at the end of the slot
 * before is lost.
 */
function creditsAfter(
  parameters: ProtocolParameters,
  former: AccountEntry | undefined,
  { slot, allotted, burned, validationBlocks }: Share & { readonly slot: SlotIndex },
): Pick<AccountEntry, 'credits' | 'updatedSlot'> {
  if (former === undefined) return { credits: -burned, updatedSlot: slot }
  const fine = fineFor(parameters, former.validatorStake, validationBlocks, slot)
  const change = (allotted ?? 0n) - burned - fine
  if (change === 0n) return { credits: former.credits, updatedSlot: former.updatedSlot }
  return { credits: decayedCredits(parameters, former, slot) + change, updatedSlot: slot }
}

/**
 * A debt decays as the number of 64 bits that it is stored as, which makes it enormous once an epoch has passed. So
 * does the node; every other reading would lead to another account root.
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

/** Too many validation blocks cost what the stake generates in some epochs, each of them. */
function fineFor(
  parameters: ProtocolParameters,
  stake: bigint,
  validationBlocks: number,
  slot: SlotIndex,
): bigint {
  const tooMany = validationBlocks - parameters.validationBlocksPerSlot
  if (tooMany <= 0) return 0n
  const slots = parameters.punishmentEpochs * 2 ** parameters.slotsPerEpochExponent
  const fine = generatedMana(parameters, stake, slot, slot + slots)
  assert(fine.ok, 'a later slot is later')
  return BigInt(tooMany) * fine.value
}
