import {
  type AccountEvents,
  accountChanges,
  accountShares,
  burnPriceSlot,
} from '../../ledger/account-changes.ts'
import { type AccountEntry, accountTrieChanges } from '../../ledger/accounts.ts'
import type { CommittedSlot, LedgerRoots } from '../../ledger/commit-slot.ts'
import type { PackedChanges } from '../../ledger/packed-changes.ts'
import {
  claimReward,
  type RewardOverflow,
  rewardClaimOf,
  rewardHistoryAt,
} from '../../ledger/reward-claims.ts'
import { trieSetRoot } from '../../ledger/trie.ts'
import type { ResolvedInput } from '../../ledger/working-set.ts'
import { present } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import { inTurns } from '../../lib/turns.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, EpochIndex, SlotIndex } from '../../protocol/primitives.ts'
import { epochOfSlot, lastSlotOfEpoch } from '../../protocol/slots.ts'
import type { TrieChanges } from '../../store/contract/trie.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { AccountVersion, EpochRow } from '../../store/rows.ts'
import { committedSlot, retainedSlots } from '../recent-commitments.ts'
import { type AccountHistories, type EntryAt, openAccountHistories } from './account-histories.ts'
import { openStoredTries, type StoredTries } from './stored-tries.ts'

/**
 * The state of the ledger at the end of the newest committed slot, as far as rules and roots need it: epochs, prices of work,
 * accounts, and the tries of accounts and unspent outputs. Accounts and tries are in the database; memory caches their most
 * recently used parts. The state is loaded again whenever this process becomes the writer.
 */
export interface LedgerState {
  /** Loads some accounts, from the cache or the database. Returns a function that reads their entries at recent slots. */
  accounts(accountIds: readonly AccountId[]): Promise<EntryAt>
  /** The entry of an account at the end of a slot. The slot is at most `maxCommittableAge` slots old. */
  entryAt(accountId: AccountId, slot: SlotIndex): Promise<AccountEntry | undefined>
  /** The mana that a reward input claims under a commitment to `slot`. */
  rewardAt(input: ResolvedInput, slot: SlotIndex): Result<bigint, RewardOverflow>
  /** The validators of an epoch; empty for an unknown epoch. */
  committeeOf(epoch: EpochIndex): EpochRow['committee']
  /** An epoch; `undefined` for an unknown epoch. */
  epochAt(epoch: EpochIndex): EpochRow | undefined
  /** The price that the blocks of a slot pay, in mana per unit of work score. */
  burnPrice(slot: SlotIndex): bigint
  /** Advances by one slot, which changes the trie of outputs in the given way. The state is then ahead of the database until the slot is written. Yields to the event loop. */
  advance(
    events: AccountEvents,
    outputs: PackedChanges,
  ): Promise<{
    readonly roots: LedgerRoots
    readonly accounts: AccountVersion[]
  }>
  /** The changes of the tries since the last written slot. */
  trieChanges(): TrieChanges
  /** Marks all slots that the state advanced by as written. */
  written(): Promise<void>
  /** Records the commitment of the slot that the state advanced to, and the epochs that changed with it. */
  settle(committed: CommittedSlot, epochs: readonly EpochRow[]): void
}

/** Limits of the caches of the state. */
export interface StateMemory {
  readonly trieBytes: number
  /** Number of account versions, a few hundred bytes each. */
  readonly accountVersions: number
}

/** Divides a number of megabytes between the caches. An account version takes about a kilobyte. */
export function stateMemoryOf(megabytes: number): StateMemory {
  return { trieBytes: megabytes * 750_000, accountVersions: Math.max(megabytes * 250, 1) }
}

/** Loads the state at the end of the newest committed slot. The tries of that slot must be built. */
export async function loadLedgerState(
  read: StoreReader,
  parameters: ProtocolParameters,
  memory: StateMemory,
): Promise<LedgerState> {
  const { slot } = await read.latestMilestone()
  const kept = retainedSlots(parameters)
  const oldest = Math.max(slot - kept, parameters.genesisSlot)
  const costs = new Map<SlotIndex, bigint>()
  for (const milestone of await read.milestonesAfter(oldest - 1, slot - oldest + 1)) {
    costs.set(milestone.slot, committedSlot(milestone).commitment.referenceManaCost)
  }
  const limit = memory.accountVersions
  return createLedgerState(parameters, {
    accounts: openAccountHistories(read, { newest: slot, kept, limit }),
    costs,
    epochs: await read.epochs(earliestEpoch(parameters, slot)),
    tries: openStoredTries(read, memory.trieBytes),
  })
}

/** The first epoch whose rewards a claim may count, under any commitment that blocks refer to when a slot is the newest one. */
function earliestEpoch(parameters: ProtocolParameters, newest: SlotIndex): EpochIndex {
  const oldest = epochOfSlot(parameters, newest - retainedSlots(parameters))
  return Math.max(oldest - parameters.rewardsParameters.retentionPeriod - 1, 0)
}

interface Loaded {
  readonly accounts: AccountHistories
  readonly costs: Map<SlotIndex, bigint>
  readonly epochs: readonly EpochRow[]
  readonly tries: StoredTries
}

function createLedgerState(parameters: ProtocolParameters, loaded: Loaded): LedgerState {
  const { accounts, costs, tries } = loaded
  const epochs = new Map(loaded.epochs.map((row) => [row.epoch, row]))

  async function entryAt(accountId: AccountId, slot: SlotIndex) {
    const entryOf = await accounts.of([accountId])
    return entryOf(accountId, slot)
  }

  function burnPrice(slot: SlotIndex): bigint {
    return present(costs.get(burnPriceSlot(parameters, slot)), 'the price of a former slot')
  }

  async function advance(events: AccountEvents, outputs: PackedChanges) {
    const { slot } = events
    const changed = await changedAccounts(parameters, accounts, events)
    const versions = [...changed].map(([accountId, entry]) => ({ accountId, slot, entry }))
    await accounts.add(versions)
    const epoch = committeeEpoch(parameters, (some) => epochs.has(some), slot)
    const roots = {
      state: await tries.changeMany('outputs', outputs),
      accounts: await tries.update('accounts', accountTrieChanges(changed)),
      committee: trieSetRoot(committeeOf(epoch).map(({ accountId }) => accountId)),
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
    costs.delete(slot - retainedSlots(parameters) - 1)
    for (const row of settled) epochs.set(row.epoch, row)
    const earliest = earliestEpoch(parameters, slot)
    for (const epoch of epochs.keys()) if (epoch < earliest) epochs.delete(epoch)
  }

  return {
    accounts: accounts.of,
    entryAt,
    rewardAt: (input, slot) => rewardOf(parameters, epochs, { input, slot }),
    committeeOf,
    epochAt: (epoch) => epochs.get(epoch),
    burnPrice,
    advance,
    trieChanges: tries.changes,
    written,
    settle,
  }
}

async function changedAccounts(
  parameters: ProtocolParameters,
  accounts: AccountHistories,
  events: AccountEvents,
) {
  const shares = await inTurns(accountShares(events))
  const entryOf = await accounts.of([...shares.shares.keys()])
  return inTurns(accountChanges(parameters, (id) => entryOf(id), shares))
}

function rewardOf(
  parameters: ProtocolParameters,
  epochs: ReadonlyMap<EpochIndex, EpochRow>,
  { input, slot }: { readonly input: ResolvedInput; readonly slot: SlotIndex },
): Result<bigint, RewardOverflow> {
  const claim = rewardClaimOf(parameters, input, slot)
  if (claim === undefined) return ok(0n)
  const history = rewardHistoryAt(parameters, epochs.values(), slot)
  const claimed = claimReward(parameters, history, claim)
  return claimed.ok ? ok(claimed.value.reward) : claimed
}

/** The epoch whose committee a commitment names: near the end of an epoch this is the next epoch. */
export function committeeEpoch(
  parameters: ProtocolParameters,
  hasEpoch: (epoch: EpochIndex) => boolean,
  slot: SlotIndex,
): EpochIndex {
  const epoch = epochOfSlot(parameters, slot)
  const isEnding = slot >= lastSlotOfEpoch(parameters, epoch) - parameters.maxCommittableAge
  return isEnding && hasEpoch(epoch + 1) ? epoch + 1 : epoch
}
