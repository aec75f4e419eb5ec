import { type AccountEvents, burnPriceSlot, changedAccounts } from '../../ledger/account-changes.ts'
import { type AccountEntry, accountTrieChanges } from '../../ledger/accounts.ts'
import type { CommittedSlot, LedgerRoots } from '../../ledger/commit-slot.ts'
import {
  claimReward,
  type RewardOverflow,
  rewardClaimOf,
  rewardHistoryAt,
} from '../../ledger/reward-claims.ts'
import { outputTrieChanges } from '../../ledger/state-root.ts'
import { emptyTrie, type Trie, trieRoot, trieSetRoot, updateTrie } from '../../ledger/trie.ts'
import type { ResolvedInput } from '../../ledger/working-set.ts'
import { present } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import { createTurns } from '../../lib/turns.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, EpochIndex, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { epochOfSlot, lastSlotOfEpoch } from '../../protocol/slots.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { AccountVersion, EpochRow } from '../../store/rows.ts'
import { committedSlot } from '../recent-commitments.ts'

/**
 * The state of the ledger at the end of the newest committed slot, as far as rules and roots need it: accounts with
 * their last versions, epochs, prices of work, and the tries of accounts and unspent outputs. It is kept in memory, some
 * 300 bytes an unspent output, and read from the database whenever this process becomes the writer.
 */
export interface LedgerState {
  /** The entry of an account at the end of a slot of the last `maxCommittableAge`, or later. */
  entryAt(accountId: AccountId, slot: SlotIndex): AccountEntry | undefined
  /** What a reward input claims under a commitment to `slot`. */
  rewardAt(input: ResolvedInput, slot: SlotIndex): Result<bigint, RewardOverflow>
  /** The validators of an epoch; none of an unknown one. */
  committeeOf(epoch: EpochIndex): EpochRow['committee']
  /** An epoch; `undefined` for an unknown one. */
  epochAt(epoch: EpochIndex): EpochRow | undefined
  /** The price that the blocks of a slot pay, in mana a unit of work score. */
  burnPrice(slot: SlotIndex): bigint
  /** Advances by a slot; the state is then ahead of the database until the slot is written. */
  advance(events: AccountEvents): {
    readonly roots: LedgerRoots
    readonly accounts: AccountVersion[]
  }
  /** Takes in the commitment of the slot it advanced to, and the epochs that it begins or ends. */
  settle(committed: CommittedSlot, epochs: readonly EpochRow[]): void
}

/** Reads the state at the end of the newest committed slot. */
export async function loadLedgerState(
  read: StoreReader,
  parameters: ProtocolParameters,
): Promise<LedgerState> {
  const { slot } = await read.latestMilestone()
  const oldest = Math.max(slot - keptSlots(parameters), parameters.genesisSlot)
  const versions = await read.accountVersions(oldest)
  const costs = new Map<SlotIndex, bigint>()
  for (const milestone of await read.milestonesAfter(oldest - 1, slot - oldest + 1)) {
    costs.set(milestone.slot, committedSlot(milestone).commitment.referenceManaCost)
  }
  const earliestEpoch =
    epochOfSlot(parameters, slot) - parameters.rewardsParameters.retentionPeriod - 1
  return createLedgerState(parameters, {
    versions,
    costs,
    epochs: await read.epochs(Math.max(earliestEpoch, 0)),
    outputs: await unspentTrie(read, slot),
  })
}

/** The number of slots whose versions and prices are kept: blocks and transactions refer to none before them. */
function keptSlots({ maxCommittableAge }: ProtocolParameters): number {
  return 2 * maxCommittableAge + 2
}

async function unspentTrie(read: StoreReader, slot: SlotIndex): Promise<Trie> {
  let outputs = emptyTrie
  const turns = createTurns()
  for (let after: OutputId | undefined; ; ) {
    const page = await read.unspentPage(after)
    after = page.at(-1)?.outputId
    if (after === undefined) return outputs
    const created = idsOf(page.filter(({ bookedSlot }) => bookedSlot <= slot))
    for (let at = 0; at < created.length; at += outputsPerTurn) {
      const some = created.slice(at, at + outputsPerTurn)
      outputs = updateTrie(outputs, outputTrieChanges({ created: some, consumed: [] }))
      await turns.pass()
    }
  }
}

/** To add so many outputs to a large trie takes some milliseconds. */
const outputsPerTurn = 200

interface Loaded {
  readonly versions: readonly AccountVersion[]
  readonly costs: Map<SlotIndex, bigint>
  readonly epochs: readonly EpochRow[]
  readonly outputs: Trie
}

function createLedgerState(parameters: ProtocolParameters, loaded: Loaded): LedgerState {
  const accounts = createAccountVersions(loaded.versions, keptSlots(parameters))
  const { entryAt } = accounts
  const epochs = new Map(loaded.epochs.map((row) => [row.epoch, row]))
  const { costs } = loaded
  let { outputs } = loaded
  let accountTrie = updateTrie(emptyTrie, accountTrieChanges(accounts.newestEntries()))

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

  function advance(events: AccountEvents) {
    const { slot, created, consumed } = events
    const changed = changedAccounts(parameters, accounts.newest, events)
    const versions = [...changed].map(([accountId, entry]) => ({ accountId, slot, entry }))
    for (const version of versions) accounts.add(version)
    accountTrie = updateTrie(accountTrie, accountTrieChanges(changed))
    const outputIds = { created: idsOf(created), consumed: idsOf(consumed) }
    outputs = updateTrie(outputs, outputTrieChanges(outputIds))
    const committee = committeeOf(committeeEpoch(parameters, epochs, slot)).map(
      ({ accountId }) => accountId,
    )
    const roots = {
      state: trieRoot(outputs),
      accounts: trieRoot(accountTrie),
      committee: trieSetRoot(committee),
    }
    return { roots, accounts: versions }
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
    entryAt,
    rewardAt,
    committeeOf,
    epochAt: (epoch) => epochs.get(epoch),
    burnPrice,
    advance,
    settle,
  }
}

/** The epoch whose committee a commitment names: towards the end of an epoch the next one. */
function committeeEpoch(
  parameters: ProtocolParameters,
  epochs: ReadonlyMap<EpochIndex, EpochRow>,
  slot: SlotIndex,
): EpochIndex {
  const epoch = epochOfSlot(parameters, slot)
  const isEnding = slot >= lastSlotOfEpoch(parameters, epoch) - parameters.maxCommittableAge
  return isEnding && epochs.has(epoch + 1) ? epoch + 1 : epoch
}

/** The versions of accounts of the last `kept` slots. */
function createAccountVersions(loaded: readonly AccountVersion[], kept: number) {
  const versionsById = new Map<AccountId, AccountVersion[]>()
  for (const version of loaded) add(version)

  function add(version: AccountVersion): void {
    const former = versionsById.get(version.accountId) ?? []
    // Of the versions before the oldest slot that is kept only the last one is needed.
    const first = former.findLastIndex(({ slot }) => slot <= version.slot - kept)
    versionsById.set(version.accountId, [...former.slice(Math.max(first, 0)), version])
  }

  function newest(accountId: AccountId): AccountEntry | undefined {
    return versionsById.get(accountId)?.at(-1)?.entry
  }

  function entryAt(accountId: AccountId, slot: SlotIndex): AccountEntry | undefined {
    return versionsById.get(accountId)?.findLast((version) => version.slot <= slot)?.entry
  }

  function newestEntries(): [AccountId, AccountEntry | undefined][] {
    return [...versionsById.keys()].map((id) => [id, newest(id)])
  }

  return { add, newest, entryAt, newestEntries }
}

function idsOf(outputs: readonly { readonly outputId: OutputId }[]): OutputId[] {
  return outputs.map(({ outputId }) => outputId)
}
