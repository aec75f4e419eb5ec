import { concernsAccounts, type IssuedBlock } from '../../ledger/account-changes.ts'
import { acceptedRoots, type CommittedSlot, commitSlot } from '../../ledger/commit-slot.ts'
import type { Announcement } from '../../ledger/committee.ts'
import type { LedgerOutput } from '../../ledger/output-parts.ts'
import { type PackedChanges, packChanges } from '../../ledger/packed-changes.ts'
import { createPackedEntries, type PackedEntries } from '../../ledger/packed-entries.ts'
import { outputValues } from '../../ledger/state-root.ts'
import { logEntries } from '../../ledger/updates.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { hexToBytes } from '../../lib/hex.ts'
import { createPackedBytes, type PackedBytes } from '../../lib/packed-bytes.ts'
import { ok, type Result } from '../../lib/result.ts'
import { createTurns, inTurns } from '../../lib/turns.ts'
import { BasicBlockBody, Block, ValidationBlockBody } from '../../protocol/block.ts'
import { slotOfId } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import type { Network } from '../../protocol/network.ts'
import { Output } from '../../protocol/outputs.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { LeaseLost } from '../../store/contract/lease.ts'
import type { SlotCommit, Store } from '../../store/contract.ts'
import type { LogTip, OutputRow, SlotBlock } from '../../store/rows.ts'
import { epochsChangedBy } from './epochs.ts'
import type { LedgerState } from './state.ts'

/** Commits slots: turns their booked content into log rows, and chains their commitments. */

export interface SlotsDeps {
  readonly store: Store
  readonly network: Network
  /** The state at the end of the newest committed slot; committing advances it. */
  readonly state: () => LedgerState
}

/** Maximum number of slots in one database transaction. */
export const slotsPerCommit = 1_000

export interface CommittedSlots {
  /** The tip of the log after the commit. */
  readonly tip: LogTip
  /** Oldest first. */
  readonly slots: readonly CommittedSlot[]
}

/** Commits the slots after `former` up to `upTo` in one transaction. All of them must be closed and booked. */
export async function commitSlots(
  deps: SlotsDeps,
  term: number,
  range: { readonly former: CommittedSlot; readonly upTo: SlotIndex },
): Promise<Result<CommittedSlots, LeaseLost>> {
  const state = deps.state()
  const { commits, slots } = await nextSlots(deps, range)
  const tip = await deps.store.write.commitSlots(term, commits, state.trieChanges())
  if (tip.ok) await state.written()
  return tip.ok ? ok({ tip: tip.value, slots }) : tip
}

/** Computes the rows to write for each slot. Frees the booked content of a slot as soon as its rows exist. */
async function nextSlots(
  deps: SlotsDeps,
  range: { readonly former: CommittedSlot; readonly upTo: SlotIndex },
): Promise<{ readonly commits: readonly SlotCommit[]; readonly slots: readonly CommittedSlot[] }> {
  const from = range.former.commitment.slot + 1
  const bySlot = await gatherSlots(deps, from, range.upTo)
  const commits: SlotCommit[] = []
  const slots: CommittedSlot[] = []
  let former = range.former
  // A gateway that was off for long commits many slots. Its start-up and its health checks need the event loop meanwhile.
  const turns = createTurns()
  for (let slot = from; slot <= range.upTo; slot++) {
    await turns.pass()
    const held = bySlot.get(slot) ?? emptySlot()
    bySlot.delete(slot)
    const next = await nextSlot(deps, { former, slot, held })
    former = next.committed
    commits.push(next.commit)
    slots.push(former)
  }
  return { commits, slots }
}

/** Advances the state by one slot and builds its commitment. */
async function nextSlot(
  { network, store, state: stateOf }: SlotsDeps,
  { former, slot, held }: { former: CommittedSlot; slot: SlotIndex; held: GatheredSlot },
): Promise<{ readonly commit: SlotCommit; readonly committed: CommittedSlot }> {
  const { parameters } = network
  const state = stateOf()
  const events = {
    slot,
    allotments: [...held.allotments].map(([accountId, mana]) => ({ accountId, mana })),
    created: held.created,
    consumed: held.consumed,
    blocks: [...basicBlocks(held), ...held.validationBlocks],
    burnPrice: state.burnPrice(slot),
  }
  const { roots, accounts } = await state.advance(events, held.outputs)
  const committed = commitSlot(network, {
    former,
    acceptedRoots: await acceptedRoots({
      blocks: held.blockIds,
      transactions: held.transactionIds,
    }),
    workScore: held.workScore,
    ledgerRoots: roots,
  })
  const epochs = await epochsChangedBy(
    { read: store.read, parameters, state },
    slot,
    held.announced,
  )
  state.settle(committed, epochs)
  const { commitmentId, bytes } = committed
  const entries = await inTurns(held.entries.sortSteps())
  return { commit: { slot, commitmentId, bytes, entries, accounts, epochs }, committed }
}

/** The content of a slot, as far as its commitment and the log need it. What every transfer adds to is in compact form, or a sum. */
interface GatheredSlot {
  readonly blockIds: PackedBytes
  readonly transactionIds: PackedBytes
  /** Work scores of the basic blocks by issuer. */
  readonly basicWork: Map<AccountId, number>
  /** In the order of issuing. */
  readonly validationBlocks: IssuedBlock[]
  readonly announced: Announcement[]
  /** Sums by account. */
  readonly allotments: Map<AccountId, bigint>
  /** The changes of the trie of unspent outputs. */
  readonly outputs: PackedChanges
  /** The decoded outputs that may change accounts, which the slot creates. */
  readonly created: LedgerOutput[]
  /** The decoded outputs that may change accounts, which the slot spends. */
  readonly consumed: LedgerOutput[]
  readonly entries: PackedEntries
  workScore: number
}

const emptySlot = (): GatheredSlot => ({
  blockIds: createPackedBytes(),
  transactionIds: createPackedBytes(),
  basicWork: new Map(),
  validationBlocks: [],
  announced: [],
  allotments: new Map(),
  outputs: packChanges(),
  created: [],
  consumed: [],
  entries: createPackedEntries(),
  workScore: 0,
})

/** One block for each issuer: what it burns is proportional to the work. */
function basicBlocks({ basicWork }: GatheredSlot): IssuedBlock[] {
  return [...basicWork].map(([issuerId, workScore]) => ({ kind: 'basic', issuerId, workScore }))
}

/** Reads the booked content of slots, by slot. Keeps only the needed parts of each row, because a slot may have any number of rows. */
async function gatherSlots(
  { store, network: { parameters } }: SlotsDeps,
  from: SlotIndex,
  upTo: SlotIndex,
): Promise<Map<SlotIndex, GatheredSlot>> {
  const bySlot = new Map<SlotIndex, GatheredSlot>()
  const trieValueOf = outputValues()
  const at = (slot: SlotIndex): GatheredSlot => getOrInsert(bySlot, slot, emptySlot)
  const move = (row: OutputRow, slot: SlotIndex, isSpent: boolean) => {
    const held = at(slot)
    const { outputId } = row
    const decoded = { outputId, output: decodeStored(Output, row.bytes) }
    // An output that the slot creates and spends is in the trie neither before nor after it.
    if (row.bookedSlot !== row.spentSlot) {
      held.outputs.add(outputId, isSpent ? undefined : trieValueOf(outputId))
    }
    if (concernsAccounts(decoded.output)) (isSpent ? held.consumed : held.created).push(decoded)
    for (const entry of logEntries(parameters, { ...decoded, isSpent, slot })) {
      held.entries.add(entry)
    }
  }
  await store.write.readSlots(from, upTo, {
    block: (block) => {
      const held = at(block.slot)
      held.blockIds.add(hexToBytes(block.blockId))
      held.workScore += block.workScore
      addBlock(held, block)
      held.announced.push(...announcementIn(block))
    },
    transaction: ({ slot, transactionId, allotments }) => {
      const held = at(slot)
      held.transactionIds.add(hexToBytes(transactionId))
      for (const { accountId, mana } of allotments) {
        held.allotments.set(accountId, (held.allotments.get(accountId) ?? 0n) + mana)
      }
    },
    created: (row) => move(row, row.bookedSlot, false),
    spent: (row) => {
      if (row.spentSlot !== undefined) move(row, row.spentSlot, true)
    },
  })
  return bySlot
}

function addBlock(held: GatheredSlot, { issuerId, workScore, bytes }: SlotBlock): void {
  const body = bytes && decodeStored(Block, bytes).body
  if (!is(ValidationBlockBody, body)) {
    held.basicWork.set(issuerId, (held.basicWork.get(issuerId) ?? 0) + workScore)
    return
  }
  const { highestSupportedVersion: version, protocolParametersHash: hash } = body
  held.validationBlocks.push({ kind: 'validation', issuerId, version, hash })
}

function announcementIn({ issuerId, slot, bytes }: SlotBlock): Announcement[] {
  const block = bytes && decodeStored(Block, bytes)
  if (!is(BasicBlockBody, block?.body)) return []
  return [{ issuerId, slot, committedSlot: slotOfId(block.header.slotCommitmentId) }]
}
