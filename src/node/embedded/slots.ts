import { type CommittedSlot, commitSlot } from '../../ledger/commit-slot.ts'
import { compareLogEntries, logEntries } from '../../ledger/updates.ts'
import { assert } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { Network } from '../../protocol/network.ts'
import { Output } from '../../protocol/outputs.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { LeaseLost, SlotCommit, SlotContents, Store } from '../../store/contract.ts'
import type { LogEntry, LogTip, OutputRow } from '../../store/rows.ts'

/** Commits slots: what was booked in them becomes rows of the log, and their commitments are chained. */

/** What committing needs. */
export interface SlotsDeps {
  readonly store: Store
  readonly network: Network
}

/** The most slots of one database transaction. */
export const slotsPerCommit = 1_000

/** What was committed, the oldest slot first, and how far the log reaches now. */
export interface CommittedSlots {
  readonly tip: LogTip
  readonly slots: readonly CommittedSlot[]
}

/** Commits the slots behind `former` up to `upTo`, all closed and booked, in one transaction. */
export async function commitSlots(
  deps: SlotsDeps,
  term: number,
  range: { readonly former: CommittedSlot; readonly upTo: SlotIndex },
): Promise<Result<CommittedSlots, LeaseLost>> {
  const from = range.former.commitment.slot + 1
  const contents = await deps.store.write.slotContents(from, range.upTo)
  const bySlot = groupBySlot(contents)
  const commits: SlotCommit[] = []
  const slots: CommittedSlot[] = []
  let former = range.former
  for (let slot = from; slot <= range.upTo; slot++) {
    const held = bySlot.get(slot) ?? nothing
    former = commitSlot(deps.network, {
      former,
      blockIds: held.blocks.map(({ blockId }) => blockId),
      transactionIds: held.transactions.map(({ transactionId }) => transactionId),
      workScore: 0,
    })
    slots.push(former)
    const { commitmentId, bytes } = former
    commits.push({ slot, commitmentId, bytes, entries: entriesOf(deps.network, slot, held) })
  }
  const tip = await deps.store.write.commitSlots(term, commits)
  return tip.ok ? ok({ tip: tip.value, slots }) : tip
}

type Contents = { -readonly [K in keyof SlotContents]: SlotContents[K][number][] }

const nothing: Contents = { blocks: [], transactions: [], created: [], spent: [] }

function groupBySlot(contents: SlotContents): ReadonlyMap<SlotIndex, Contents> {
  const bySlot = new Map<SlotIndex, Contents>()
  const at = (slot: SlotIndex): Contents => {
    const held = bySlot.get(slot) ?? { blocks: [], transactions: [], created: [], spent: [] }
    bySlot.set(slot, held)
    return held
  }
  for (const block of contents.blocks) at(block.slot).blocks.push(block)
  for (const transaction of contents.transactions)
    at(transaction.slot).transactions.push(transaction)
  for (const output of contents.created) at(output.bookedSlot).created.push(output)
  for (const output of contents.spent)
    if (output.spentSlot !== undefined) at(output.spentSlot).spent.push(output)
  return bySlot
}

/** The rows of the log that a slot makes, in their order. */
function entriesOf(network: Network, slot: SlotIndex, { created, spent }: Contents): LogEntry[] {
  const told = (row: OutputRow, isSpent: boolean) => {
    const output = decode(Output, row.bytes)
    assert(output.ok, 'a stored output decodes')
    const { outputId } = row
    return logEntries(network.parameters, { outputId, output: output.value, isSpent, slot })
  }
  return [
    ...created.flatMap((row) => told(row, false)),
    ...spent.flatMap((row) => told(row, true)),
  ].sort(compareLogEntries)
}
