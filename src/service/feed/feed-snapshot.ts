import type { SnapshotMessage } from '../../feed/message.ts'
import type { UpdateFilter } from '../../feed/read.ts'
import { keysOfAddress } from '../../ledger/index-keys.ts'
import { compareLogEntries, logEntries, updateClasses } from '../../ledger/updates.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { Output } from '../../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { OutputPosition } from '../../store/contract/view.ts'
import { retryingReader } from '../../store/retry.ts'
import type { LedgerUpdate, LogPosition, OutputRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'

/**
 * The outputs of some addresses that were unspent at a position of the log. They are read in batches while the ledger
 * grows, each batch as of that position: outputs that are unspent now and existed then, and outputs that were spent since.
 */

export interface SnapshotPosition {
  readonly filter: UpdateFilter
  readonly position: LogPosition
}

/**
 * Yields the ids of the outputs without duplicates; the last message is empty. Waits while the database is away. Ends without the
 * last message if updates since the position were pruned.
 */
export async function* readSnapshot(
  { store, parameters }: Pick<Services, 'store' | 'parameters'>,
  { filter, position }: SnapshotPosition,
): AsyncGenerator<SnapshotMessage, void, undefined> {
  const deps = { store: { ...store, read: retryingReader(store.read) }, parameters }
  const moment = await momentOf(deps, position.seq)
  const emitted = new Set<OutputId>()
  const pick = (address: Hex, rows: readonly OutputRow[]) => {
    const picked = rows
      .filter((row) => !emitted.has(row.outputId))
      .filter((row) => isFiledUnder(deps, { row, address, filter, moment }))
      .map(({ outputId }) => outputId)
    for (const outputId of picked) emitted.add(outputId)
    return picked
  }
  for (const address of filter.addresses ?? []) {
    for await (const rows of unspentNow(deps, address)) {
      const outputIds = pick(address, rows)
      if (outputIds.length > 0) yield { kind: 'snapshot', position, outputIds, isLast: false }
    }
    // Spent outputs are read second, so that an output spent between the two reads is not missed.
    for await (const rows of spentSince(deps, address, position.seq)) {
      const outputIds = pick(address, rows)
      if (outputIds.length > 0) yield { kind: 'snapshot', position, outputIds, isLast: false }
    }
  }
  const { prunedSeq } = await deps.store.read.logTip()
  if (position.seq >= prunedSeq) yield { kind: 'snapshot', position, outputIds: [], isLast: true }
}

/** The state at a position. */
interface Moment {
  /** The newest milestone with updates up to the position. */
  readonly slot: SlotIndex
  /** The first update after the position, if it is of the same milestone. */
  readonly next: LedgerUpdate | undefined
}

async function momentOf(
  { store: { read } }: Pick<Services, 'store'>,
  position: number,
): Promise<Moment> {
  const tip = await read.logTip()
  const range = { after: position, before: position + 2, limit: 1, order: 'ascending' } as const
  const [next] = position < tip.seq ? await read.updates({ ...range, classes: updateClasses }) : []
  if (next === undefined) return { slot: tip.slot, next }
  const { milestoneIndex: slot } = next
  const { firstSeq } = present(await read.milestone(slot), `milestone ${slot}`)
  return position < firstSeq ? { slot: slot - 1, next: undefined } : { slot, next }
}

/** Yields the unspent outputs that have an address in any role, in batches. */
async function* unspentNow(
  { store: { read } }: Pick<Services, 'store'>,
  address: Hex,
): AsyncGenerator<readonly OutputRow[], void, undefined> {
  const anyOf = keysOfAddress(address)
  let after: OutputPosition | undefined
  for (let rows: readonly OutputRow[]; ; ) {
    rows = await read.unspentOutputs({
      filter: { asOf: 'COMMITTED', anyOf },
      after,
      limit: rowsPerChunk,
    })
    if (rows.length > 0) yield rows
    if (rows.length < rowsPerChunk) return
    after = rows.at(-1)
  }
}

/** Yields the outputs that were spent under an address since a position, in batches. */
async function* spentSince(
  { store: { read } }: Pick<Services, 'store'>,
  address: Hex,
  position: number,
): AsyncGenerator<readonly OutputRow[], void, undefined> {
  const tip = await read.logTip()
  for (let after = position; after < tip.seq; ) {
    const range = { after, before: tip.seq + 1, limit: rowsPerChunk, order: 'ascending' } as const
    const rows = await read.updates({ ...range, address, classes: updateClasses })
    const spent = rows.filter(({ isSpent }) => isSpent)
    if (spent.length > 0) yield await read.outputs(spent.map(({ outputId }) => outputId))
    after = endOf(rows, tip.seq)
  }
}

function endOf(rows: readonly LedgerUpdate[], end: number): number {
  return rows.length === rowsPerChunk ? (rows.at(-1)?.seq ?? end) : end
}

/** Maximum number of outputs of one batch. */
export const rowsPerChunk = 500

/**
 * Whether the log had an output under an address in one of the classes; an expiration may have changed its owner. If so, an output that
 * was spent since was unspent then.
 */
function isFiledUnder(
  { parameters }: Pick<Services, 'parameters'>,
  of: { row: OutputRow; address: Hex; filter: UpdateFilter; moment: Moment },
): boolean {
  const { outputId, bytes, bookedSlot } = of.row
  const { slot, next } = of.moment
  if (bookedSlot > slot) return false
  const output = decodeStored(Output, bytes)
  const entry = logEntries(parameters, { outputId, output, isSpent: false, slot }).find(
    ({ address }) => address === of.address,
  )
  if (entry === undefined || !of.filter.classes.includes(entry.class)) return false
  // The position may be inside the milestone that created the output.
  return bookedSlot < slot || next === undefined || compareLogEntries(entry, next) < 0
}
