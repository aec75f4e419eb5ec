import { type AccountEntry, accountEntryFrom } from '../../src/ledger/accounts.ts'
import { parametersRoot } from '../../src/ledger/commit-slot.ts'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex, type Hex } from '../../src/lib/hex.ts'
import type { SlotCommitment } from '../../src/protocol/commitment.ts'
import { commitmentId, creationSlotOf, slotOfId } from '../../src/protocol/ids.ts'
import { merkleRoot } from '../../src/protocol/merkle.ts'
import type {
  AccountId,
  EpochIndex,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../../src/protocol/primitives.ts'
import { epochOfSlot, lastSlotOfEpoch } from '../../src/protocol/slots.ts'
import type { Allotment } from '../../src/protocol/transaction.ts'
import { type Accounts, accountsAfter } from './accounts.ts'
import type { Differences } from './differences.ts'
import {
  type Claim,
  claimedMana,
  type Rewards,
  rewardsOf,
  type Seat,
  selectCommittee,
  selectingSlot,
} from './epochs.ts'
import { groupBy } from './lists.ts'
import { entryBytes, rootOfMap, rootOfSet, u32 } from './roots.ts'
import type { BookedOutput, StoredLedger } from './stored-ledger.ts'
import type { Tables } from './tables.ts'

/** Commits one slot after another: accounts, committees, rewards, the price of blocks, and the commitment with its roots. */

/** What the bookings have done so far. */
export interface Booked {
  readonly outputById: Map<OutputId, BookedOutput>
  readonly acceptedById: Map<TransactionId, AcceptedTransaction>
}

/** An accepted transaction. */
export interface AcceptedTransaction {
  readonly slot: SlotIndex
  readonly allotments: readonly Allotment[]
}

/** The state of the ledger by slot. */
export interface Slots {
  /** Commits all slots up to this one, which must be booked completely. */
  advanceTo(slot: SlotIndex): void
  /** The entry of an account at the end of a committed slot. */
  entryAt(accountId: AccountId, slot: SlotIndex): AccountEntry | undefined
  claimAt(claim: Claim, slot: SlotIndex): bigint
  /** The committee of an epoch, ordered by account. */
  committeeOf(epoch: EpochIndex): readonly Seat[]
  /** The reference mana cost of the blocks of a slot. */
  priceOf(slot: SlotIndex): bigint
  /** Compares the epochs with the table. */
  compareEpochs(tables: Tables): Promise<void>
  /** The entries of accounts after the newest slot. */
  accounts(): Accounts
}

/** Starts with the genesis. */
export async function createSlots(
  ledger: StoredLedger,
  booked: Booked,
  tables: Tables,
  differ: Differences,
): Promise<Slots> {
  const { parameters, network, commitments, blocksOfSlot } = ledger
  const { genesisSlot, maxCommittableAge, congestionControlParameters: congestion } = parameters
  const versions = await tables.rows('account_versions', 'slot')
  const versionsOfSlot = groupBy(versions, (row) => row.number('slot'))
  const genesisEntries = (versionsOfSlot.get(genesisSlot) ?? []).map((row) =>
    accountEntryFrom(row.bytes('entry')),
  )
  let accounts: Accounts = new Map(genesisEntries.map((entry) => [entry.accountId, entry]))
  const history = new Map<AccountId, { slot: SlotIndex; entry: AccountEntry | undefined }[]>()
  for (const [id, entry] of accounts) history.set(id, [{ slot: genesisSlot, entry }])
  const prices = new Map([[genesisSlot, congestion.minReferenceManaCost]])
  const epochRows = await tables.rows('epochs', 'epoch')
  const first = epochRows.find((row) => row.number('epoch') === 0)
  const committees = new Map<EpochIndex, readonly Seat[]>([
    [0, first === undefined ? [] : seatsOf(first.text('committee'))],
  ])
  const candidates = new Map<EpochIndex, Set<AccountId>>()
  const rewards = new Map<EpochIndex, Rewards | undefined>()
  let slotNow = genesisSlot
  let previousCommitmentId = present(commitments.get(genesisSlot), 'the genesis').id

  function commitNext(): void {
    const slot = ++slotNow
    const blocks = blocksOfSlot(slot)
    const inSlot = [...booked.acceptedById].filter(([, one]) => one.slot === slot)
    const outputs = [...booked.outputById.values()]
    const next = accountsAfter(parameters, accounts, {
      ...{ slot, blocks, price: priceOf(slot) },
      created: outputs.filter((one) => one.bookedSlot === slot && one.spentSlot !== slot),
      spent: outputs.filter((one) => one.spentSlot === slot && one.bookedSlot !== slot),
      allotments: inSlot.flatMap(([, { allotments }]) => allotments),
    })
    compareAccounts(slot, next)
    accounts = next
    const seats = closeEpoch(slot)
    const workScore = blocks.reduce((sum, block) => sum + block.workScore, 0)
    const former = present(prices.get(slot - 1), 'the former price')
    const referenceManaCost = nextPrice(former, workScore)
    prices.set(slot, referenceManaCost)
    const stored = commitments.get(slot)
    if (stored === undefined) return void differ.equal(`commitment ${slot}`, undefined, 'one')
    const isUnspent = ({ bookedSlot, spentSlot = Number.POSITIVE_INFINITY }: BookedOutput) =>
      bookedSlot <= slot && spentSlot > slot
    const unspent = outputs.filter(isUnspent)
    const none = new Uint8Array(32)
    const commitment: SlotCommitment = {
      ...{ protocolVersion: parameters.version, slot, previousCommitmentId },
      rootsId: bytesToHex(
        merkleRoot([
          rootOfSet(blocks.map(({ blockId }) => blockId)),
          rootOfSet(inSlot.map(([id]) => id)),
          rootOfMap(unspent.map(({ outputId: id }) => [id, u32(creationSlotOf(id))] as const)),
          rootOfMap([...accounts].map(([id, entry]) => [id, entryBytes(entry)] as const)),
          none,
          rootOfSet(seats.map(({ accountId }) => accountId)),
          none,
          parametersRoot(network, 0),
        ]),
      ),
      ...{ cumulativeWeight: 0n, referenceManaCost },
    }
    differ.equal(`commitment ${slot}`, stored.commitment, commitment)
    differ.equal(`id of commitment ${slot}`, stored.id, commitmentId(commitment))
    previousCommitmentId = stored.id
  }

  function compareAccounts(slot: SlotIndex, next: Accounts): void {
    const expected = new Map<string, Hex | 'deleted'>()
    for (const id of new Set([...accounts.keys(), ...next.keys()])) {
      const entry = next.get(id)
      const [before, after] = [accounts.get(id), entry].map(
        (one) => one && bytesToHex(entryBytes(one)),
      )
      if (before === after) continue
      expected.set(id, after ?? 'deleted')
      history.set(id, [...(history.get(id) ?? []), { slot, entry }])
    }
    const actual = new Map<string, Hex | 'deleted'>()
    for (const row of versionsOfSlot.get(slot) ?? []) {
      actual.set(row.hex('id'), row.isNull('entry') ? 'deleted' : row.hex('entry'))
    }
    differ.equalMaps(`entry after slot ${slot} of account`, actual, expected)
  }

  /** Notes candidacies, selects the next committee and pays rewards if it is time. Returns the committee in the root of the slot. */
  function closeEpoch(slot: SlotIndex): readonly Seat[] {
    const epoch = epochOfSlot(parameters, slot)
    const last = lastSlotOfEpoch(parameters, epoch)
    const current = committees.get(epoch) ?? []
    for (const { isCandidacy, issuerId, block } of blocksOfSlot(slot)) {
      const entry = isCandidacy
        ? entryAt(issuerId, slotOfId(block.header.slotCommitmentId))
        : undefined
      const isInTime = slot <= last - parameters.epochNearingThreshold
      if (entry === undefined || entry.stakeEndEpoch <= epoch || !isInTime) continue
      candidates.set(epoch, (candidates.get(epoch) ?? new Set()).add(issuerId))
    }
    const isNextKnown = slot >= last - maxCommittableAge && committees.has(epoch + 1)
    const inRoot = isNextKnown ? (committees.get(epoch + 1) ?? []) : current
    if (slot === selectingSlot(parameters, epoch)) {
      const chosen = selectCommittee(parameters, candidates.get(epoch) ?? [], accounts)
      committees.set(epoch + 1, chosen.length === 0 ? current : chosen)
    }
    if (slot === last) rewards.set(epoch, rewardsOf(parameters, epoch, current, blocksOfSlot))
    return inRoot
  }

  function nextPrice(former: bigint, workScore: number): bigint {
    const { minReferenceManaCost: least, increase, decrease } = congestion
    if (workScore > congestion.increaseThreshold) return former + increase
    if (workScore >= congestion.decreaseThreshold || former <= least) return former
    const fallen = former - decrease
    if (fallen < least) return least
    return fallen
  }

  function priceOf(slot: SlotIndex): bigint {
    return present(prices.get(Math.max(slot - maxCommittableAge, genesisSlot)), 'a price')
  }

  function entryAt(accountId: AccountId, slot: SlotIndex): AccountEntry | undefined {
    return history.get(accountId)?.findLast((version) => version.slot <= slot)?.entry
  }

  async function compareEpochs(): Promise<void> {
    for (const row of epochRows) {
      const epoch = row.number('epoch')
      const actual = row.isNull('candidates') ? [] : JSON.parse(row.text('candidates'))
      differ.equal(
        `candidates of epoch ${epoch}`,
        actual.sort(),
        [...(candidates.get(epoch) ?? [])].toSorted(),
      )
      const paid = row.isNull('rewards') ? undefined : paidOf(row.text('rewards'))
      const expected = rewards.get(epoch)
      differ.equal(
        `rewards of epoch ${epoch}`,
        paid,
        expected && {
          profitMargin: expected.profitMargin,
          pools: [...expected.poolById]
            .map(([accountId, pool]) => ({ accountId, ...pool }))
            .sort(byAccount),
        },
      )
    }
    const actual = new Map(
      epochRows.map((row) => [`${row.number('epoch')}`, seatsOf(row.text('committee'))]),
    )
    const expected = [...committees].map(
      ([epoch, seats]) => [`${epoch}`, seats.toSorted(byAccount)] as const,
    )
    differ.equalMaps('committee of epoch', actual, new Map(expected))
  }

  return {
    advanceTo: (slot) => {
      while (slotNow < Math.min(slot, ledger.committed)) commitNext()
    },
    entryAt,
    claimAt: (claim, slot) => claimedMana(parameters, claim, slot, rewards),
    committeeOf: (epoch) => (committees.get(epoch) ?? []).toSorted(byAccount),
    priceOf,
    compareEpochs,
    accounts: () => accounts,
  }
}

interface WithAccount {
  readonly accountId: AccountId
}

function byAccount(a: WithAccount, b: WithAccount): number {
  return a.accountId < b.accountId ? -1 : 1
}

/** The JSON forms of the table `epochs`; amounts are texts. */
type Texts<T> = { readonly [K in keyof T]: T[K] extends bigint ? string : T[K] }

function seatsOf(text: string): Seat[] {
  const seats: Texts<Seat>[] = JSON.parse(text)
  const read = (seat: Texts<Seat>) => ({
    accountId: seat.accountId,
    poolStake: BigInt(seat.poolStake),
    validatorStake: BigInt(seat.validatorStake),
    fixedCost: BigInt(seat.fixedCost),
  })
  return seats.map(read).sort(byAccount)
}

function paidOf(text: string) {
  const { profitMargin, pools } = JSON.parse(text)
  const read = (pool: Readonly<Record<string, string>>) => ({
    accountId: pool.accountId as AccountId,
    poolStake: BigInt(pool.poolStake ?? ''),
    poolReward: BigInt(pool.poolReward ?? ''),
    fixedCost: BigInt(pool.fixedCost ?? ''),
  })
  return { profitMargin: BigInt(profitMargin), pools: pools.map(read).sort(byAccount) }
}
