import {
  type AccountEvents,
  accountChanges,
  accountShares,
  burnPriceSlot,
} from '../../ledger/account-changes.ts'
import { type AccountEntry, accountTrieChanges } from '../../ledger/accounts.ts'
import type { CommittedSlot, LedgerRoots } from '../../ledger/commit-slot.ts'
import {
  claimReward,
  type RewardOverflow,
  rewardClaimOf,
  rewardHistoryAt,
} from '../../ledger/reward-claims.ts'
import { outputTrieSteps } from '../../ledger/state-root.ts'
import { trieSetRoot } from '../../ledger/trie.ts'
import type { ResolvedInput } from '../../ledger/working-set.ts'
import { present } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import { inTurns } from '../../lib/turns.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, EpochIndex, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { epochOfSlot, lastSlotOfEpoch } from '../../protocol/slots.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { AccountVersion, EpochRow } from '../../store/rows.ts'
import type { TrieChanges } from '../../store/trie-contract.ts'
import { committedSlot } from '../recent-commitments.ts'
import { type AccountHistories, type EntryAt, openAccountHistories } from './account-histories.ts'
import { type KeptTries, openKeptTries } from './kept-tries.ts'

/**
 * The state of the ledger at the end of the newest committed slot, as far as rules and roots need it: epochs and prices of
 * work, and what is in the database of accounts and of the tries of accounts and unspent outputs, of which memory has what was
 * used last. Begun anew whenever this process becomes the writer.
 */
export interface LedgerState {
  /** Reads some accounts where memory does not have them, and gives a function for their entries of the last slots. */
  accounts(accountIds: readonly AccountId[]): Promise<EntryAt>
  /** The entry of an account at the end of a slot of the last `maxCommittableAge`, or later. */
  entryAt(accountId: AccountId, slot: SlotIndex): Promise<AccountEntry | undefined>
  /** What a reward input claims under a commitment to `slot`. */
  rewardAt(input: ResolvedInput, slot: SlotIndex): Result<bigint, RewardOverflow>
  /** The validators of an epoch; none of an unknown one. */
  committeeOf(epoch: EpochIndex): EpochRow['committee']
  /** An epoch; `undefined` for an unknown one. */
  epochAt(epoch: EpochIndex): EpochRow | undefined
  /** The price that the blocks of a slot pay, in mana a unit of work score. */
  burnPrice(slot: SlotIndex): bigint
  /** Advances by a slot; the state is then ahead of the database until the slot is written. Lets the event loop turn. */
  advance(
    events: AccountEvents,
    outputIds: ChangedOutputs,
  ): Promise<{
    readonly roots: LedgerRoots
    readonly accounts: AccountVersion[]
  }>
  /** What changed in the tries since the last slot that was written. */
  trieChanges(): TrieChanges
  /** Tells that all slots it advanced by are written. */
  written(): Promise<void>
  /** Takes in the commitment of the slot it advanced to, and the epochs that it begins or ends. */
  settle(committed: CommittedSlot, epochs: readonly EpochRow[]): void
}

/** The outputs that a slot creates and consumes; some may be in both lists. */
export interface ChangedOutputs {
  readonly created: readonly OutputId[]
  readonly consumed: readonly OutputId[]
}

/** How much memory may have of what is in the database. */
export interface StateMemory {
  /** Bytes of pages of tries. */
  readonly trieBytes: number
  /** Versions of accounts, some hundred bytes each. */
  readonly accountVersions: number
}

/** Divides so many megabytes: a version of an account takes about a kilobyte. */
export function stateMemoryOf(megabytes: number): StateMemory {
  return { trieBytes: megabytes * 750_000, accountVersions: Math.max(megabytes * 250, 1) }
}

/** Reads of the state at the end of the newest committed slot what the next slot needs. Its tries must be built. */
export async function loadLedgerState(
  read: StoreReader,
  parameters: ProtocolParameters,
  memory: StateMemory,
): Promise<LedgerState> {
  const { slot } = await read.latestMilestone()
  const kept = keptSlots(parameters)
  const oldest = Math.max(slot - kept, parameters.genesisSlot)
  const costs = new Map<SlotIndex, bigint>()
  for (const milestone of await read.milestonesAfter(oldest - 1, slot - oldest + 1)) {
    costs.set(milestone.slot, committedSlot(milestone).commitment.referenceManaCost)
  }
  const earliestEpoch =
    epochOfSlot(parameters, slot) - parameters.rewardsParameters.retentionPeriod - 1
  const limit = memory.accountVersions
  return createLedgerState(parameters, {
    accounts: openAccountHistories(read, { newest: slot, kept, limit }),
    costs,
    epochs: await read.epochs(Math.max(earliestEpoch, 0)),
    tries: openKeptTries(read, memory.trieBytes),
  })
}

/** The number of slots whose versions and prices are kept: blocks and transactions refer to none before them. */
function keptSlots({ maxCommittableAge }: ProtocolParameters): number {
  return 2 * maxCommittableAge + 2
}

interface Loaded {
  readonly accounts: AccountHistories
  readonly costs: Map<SlotIndex, bigint>
  readonly epochs: readonly EpochRow[]
  readonly tries: KeptTries
}

function createLedgerState(parameters: ProtocolParameters, loaded: Loaded): LedgerState {
  const { accounts, costs, tries } = loaded
  const epochs = new Map(loaded.epochs.map((row) => [row.epoch, row]))

  async function entryAt(accountId: AccountId, slot: SlotIndex) {
    const entryOf = await accounts.of([accountId])
    return entryOf(accountId, slot)
  }

  function rewardAt(input: ResolvedInput, slot: SlotIndex): Result<bigint, RewardOverflow> {
    const claim = rewardClaimOf(parameters, input, slot)
    if (claim === undefined) return ok(0n)
    const history = rewardHistoryAt(parameters, epochs.values(), slot)
    const claimed = claimReward(parameters, history, claim)
    return claimed.ok ? ok(claimed.value.reward) : claimed
  }

  function burnPrice(slot: SlotIndex): bigint {
    return present(costs.get(burnPriceSlot(parameters, slot)), 'the price of a former slot')
  }

  async function advance(events: AccountEvents, outputIds: ChangedOutputs) {
    const { slot } = events
    const shares = await inTurns(accountShares(events))
    const entryOf = await accounts.of([...shares.shares.keys()])
    const changed = await inTurns(accountChanges(parameters, (id) => entryOf(id), shares))
    const versions = [...changed].map(([accountId, entry]) => ({ accountId, slot, entry }))
    for (const version of versions) await accounts.add(version)
    const hasEpoch = (epoch: EpochIndex) => epochs.has(epoch)
    const committee = committeeOf(committeeEpoch(parameters, hasEpoch, slot)).map(
      ({ accountId }) => accountId,
    )
    const roots = {
      state: await tries.update('outputs', await inTurns(outputTrieSteps(outputIds))),
      accounts: await tries.update('accounts', accountTrieChanges(changed)),
      committee: trieSetRoot(committee),
    }
    return { roots, accounts: versions }
  }

  async function written(): Promise<void> {
    accounts.written()
    await tries.written()
  }

  function committeeOf(epoch: EpochIndex): EpochRow['committee'] {
    return epochs.get(epoch)?.committee ?? []
  }

  function settle({ commitment }: CommittedSlot, settled: readonly EpochRow[]): void {
    const { slot, referenceManaCost } = commitment
    costs.set(slot, referenceManaCost)
    costs.delete(slot - keptSlots(parameters) - 1)
    for (const row of settled) epochs.set(row.epoch, row)
  }

  return {
    accounts: accounts.of,
    entryAt,
    rewardAt,
    committeeOf,
    epochAt: (epoch) => epochs.get(epoch),
    burnPrice,
    advance,
    trieChanges: tries.changes,
    written,
    settle,
  }
}

/** The epoch whose committee a commitment names: towards the end of an epoch the next one. */
export function committeeEpoch(
  parameters: ProtocolParameters,
  hasEpoch: (epoch: EpochIndex) => boolean,
  slot: SlotIndex,
): EpochIndex {
  const epoch = epochOfSlot(parameters, slot)
  const isEnding = slot >= lastSlotOfEpoch(parameters, epoch) - parameters.maxCommittableAge
  return isEnding && hasEpoch(epoch + 1) ? epoch + 1 : epoch
}
