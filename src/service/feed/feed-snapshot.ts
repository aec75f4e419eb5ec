import type { SnapshotMessage } from '../../feed/message.ts'
import type { UpdateFilter } from '../../feed/read.ts'
import { keysOfAddress } from '../../ledger/index-keys.ts'
import {
  compareLogEntries,
  type LogEntry,
  logEntries,
  updateClasses,
} from '../../ledger/updates.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { Output } from '../../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { OutputPosition } from '../../store/contract/view.ts'
import { comparePositions } from '../../store/positions.ts'
import { retryingReader, retryWhileAway } from '../../store/retry.ts'
import type { LedgerUpdate, LogPosition, OutputRow } from '../../store/rows.ts'
import { SnapshotOver } from '../../store/snapshot-session.ts'
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
 * last message if updates since the position were pruned. Keeps no ids: a ledger has any number of outputs of an address.
 */
export async function* readSnapshot(
  { store, parameters }: Pick<Services, 'store' | 'parameters'>,
  { filter, position }: SnapshotPosition,
): AsyncGenerator<SnapshotMessage, void, undefined> {
  const deps = { store: { ...store, read: retryingReader(store.read) }, parameters }
  const moment = await momentOf(deps, position.seq)
  const messageOf = (outputIds: readonly OutputId[]): SnapshotMessage => {
    return { kind: 'snapshot', position, outputIds, isLast: false }
  }
  for (const address of filter.addresses ?? []) {
    const pick = (rows: readonly OutputRow[]) =>
      rows
        .filter((row) => addressOf(deps, { row, filter, moment }) === address)
        .map(({ outputId }) => outputId)
    const scans: Scan[] = []
    for await (const { rows, scan } of unspentNow(deps, address)) {
      note(scans, scan)
      const outputIds = pick(rows)
      if (outputIds.length > 0) yield messageOf(outputIds)
    }
    // Spent outputs are read second, so that an output spent between the two reads is not missed.
    for await (const rows of spentSince(deps, address, position.seq)) {
      const outputIds = pick(rows.filter((row) => !wasUnspent(scans, row)))
      if (outputIds.length > 0) yield messageOf(outputIds)
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

/** The unspent outputs up to a position were read at the end of a slot; `undefined` for all remaining outputs. */
interface Scan {
  readonly slot: SlotIndex
  readonly through: OutputPosition | undefined
}

/** Adds a scan that continues the last one. Scans at the end of one slot are one. */
function note(scans: Scan[], scan: Scan): void {
  if (scans.at(-1)?.slot === scan.slot) scans.pop()
  scans.push(scan)
}

/** Whether an output that was spent later was among the outputs of the scan of its position. */
function wasUnspent(scans: readonly Scan[], { spentSlot, ...row }: OutputRow): boolean {
  const scan = scans.find(({ through }) => through === undefined || !isAfter(row, through))
  return present(spentSlot, 'a spent output') > present(scan, 'a scan').slot
}

function isAfter(a: OutputPosition, b: OutputPosition): boolean {
  return comparePositions([a.bookedSlot, a.outputId], [b.bookedSlot, b.outputId]) > 0
}

/** Yields the unspent outputs that have an address in any role, in batches with the slot as of which each is. */
async function* unspentNow(
  { store }: Pick<Services, 'store'>,
  address: Hex,
): AsyncGenerator<{ readonly rows: readonly OutputRow[]; readonly scan: Scan }, void, undefined> {
  const anyOf = keysOfAddress(address)
  for (let after: OutputPosition | undefined, isOver = false; !isOver; ) {
    const query = { filter: { asOf: 'COMMITTED', anyOf }, after, limit: rowsPerChunk } as const
    const { rows, slot } = await atOneMoment(store, async (read) => {
      return { rows: await read.unspentOutputs(query), slot: (await read.logTip()).slot }
    })
    const last = rows.length < rowsPerChunk ? undefined : rows.at(-1)
    // Not the row, which has the bytes of the output.
    after = last && { bookedSlot: last.bookedSlot, outputId: last.outputId }
    isOver = after === undefined
    yield { rows, scan: { slot, through: after } }
  }
}

/** Reads in a snapshot of the database. Waits while the database is away, and begins again if the snapshot lasts too long. */
async function atOneMoment<T>(
  store: Pick<Services['store'], 'snapshot'>,
  work: (read: Services['store']['read']) => Promise<T>,
): Promise<T> {
  const attempt = async () => {
    const snapshot = await store.snapshot()
    try {
      return await work(snapshot.read)
    } finally {
      snapshot.end()
    }
  }
  for (;;) {
    try {
      return await retryWhileAway(attempt)
    } catch (failure) {
      if (!(failure instanceof SnapshotOver)) throw failure
    }
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
 * Returns the first address of the filter whose log had the creation of an output in one of the classes, but not its spending; an
 * expiration may have changed its owner. The position may be inside the milestone that created or spent the output, after the rows of
 * some of its addresses only.
 */
function addressOf(
  { parameters }: Pick<Services, 'parameters'>,
  of: { row: OutputRow; filter: UpdateFilter; moment: Moment },
): Hex | undefined {
  const { outputId, bytes, bookedSlot, spentSlot } = of.row
  const { slot, next } = of.moment
  if (bookedSlot > slot) return undefined
  const { addresses = [], classes } = of.filter
  const output = decodeStored(Output, bytes)
  const isReached = (entry: LogEntry) => next === undefined || compareLogEntries(entry, next) < 0
  const filed = logEntries(parameters, { outputId, output, isSpent: false, slot })
    .filter((entry) => classes.includes(entry.class))
    .filter((entry) => bookedSlot < slot || isReached(entry))
    .filter((entry) => spentSlot !== slot || !isReached({ ...entry, isSpent: true }))
  return addresses.find((address) => filed.some((entry) => entry.address === address))
}
