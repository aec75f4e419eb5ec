import { AnchorOutput, outputCodes } from '../protocol/outputs.ts'
import type { OutputId } from '../protocol/primitives.ts'
import type {
  OutputPosition,
  ScanEnd,
  SlotBounds,
  UnspentQuery,
  ViewReader,
} from './contract/view.ts'
import { comparePositions } from './positions.ts'
import type { OutputRow } from './rows.ts'
import { activityReads } from './sql/activity-reads.ts'
import { balanceReads } from './sql/balance-reads.ts'
import { chainReads } from './sql/chain-reads.ts'
import { multiReads } from './sql/multi-reads.ts'
import type { Reading } from './sql/reading.ts'
import { searchReads } from './sql/search-reads.ts'
import { readScanEnd, type UnspentScan, unspentScan } from './sql/unspent-scans.ts'

/** Creates the reads of the views beside the log, such as balances and unspent outputs. */
export function viewReads(reading: Reading): ViewReader {
  const scan = unspentScan(reading)
  return {
    ...balanceReads(reading),
    ...activityReads(reading),
    ...chainReads(reading),
    ...multiReads(reading),
    ...searchReads(reading),
    unspentOutputs: (query) => readUnspent(scan, query),
    unspentScanEnd: (query, max) => readUnspentScanEnd(reading, query, max),
  }
}

/** Runs all scans of a query, and merges their rows. */
async function readUnspent(
  scan: ReturnType<typeof unspentScan>,
  query: UnspentQuery,
): Promise<OutputRow[]> {
  const scans = scansOf(query)
  const found = await Promise.all(scans.map(scan))
  const rows = found.flat()
  const sign = query.order === 'descending' ? -1 : 1
  if (scans.length > 1) rows.sort((a, b) => sign * comparePositions(placeOf(a), placeOf(b)))
  const isFirst = (row: OutputRow, i: number) => row.outputId !== rows[i - 1]?.outputId
  return rows.filter(isFirst).slice(0, query.limit)
}

/** Returns the first position, in the order of the query, at which a scan reaches its limit. All scans cover the positions up to it. */
async function readUnspentScanEnd(
  reading: Reading,
  query: Omit<UnspentQuery, 'limit'>,
  max: number,
): Promise<ScanEnd> {
  const scanned = Math.min(max, reading.dialect.maxScannedRows)
  const scans = scansOf({ ...query, limit: 0 })
  const ends = await Promise.all(scans.map((scan) => readScanEnd(reading, scan, scanned)))
  const reached = ends.filter((end) => end !== undefined)
  const sign = query.order === 'descending' ? -1 : 1
  reached.sort((a, b) => sign * comparePositions(placeOf(a), placeOf(b)))
  return { at: reached[0], scanned: reached.length * scanned }
}

/** Returns the index scans of a query. An empty list of kinds needs no scan, and a repeated kind is scanned once. */
function scansOf({
  filter: given,
  after,
  before,
  through,
  order = 'ascending',
  limit,
}: UnspentQuery): UnspentScan[] {
  const { heldBy, anyOf, keys = [] } = given
  const kinds = given.kinds === undefined ? outputCodes : [...new Set(given.kinds)]
  if (kinds.length === 0) return []
  const filter = given.kinds === undefined ? given : { ...given, kinds }
  const part = { ...within(filter.created, after, before), through }
  const scan = (by: UnspentScan['by'], also: UnspentScan['also'] = keys) => ({
    by,
    also,
    filter,
    ...part,
    order,
    limit,
  })
  if (heldBy !== undefined) return [scan({ kind: 'HOLDER', value: heldBy })]
  if (anyOf !== undefined) return anyOf.map((key) => scan(key))
  const [first, ...rest] = keys
  if (first === undefined) return kinds.map((kind) => scan({ kind }))
  if (first.kind !== 'OWNER') return [scan(first, rest)]
  // Outputs without an expiration are found by their holder, who is the owner unless the output is an anchor.
  const { value } = first
  const owned = { ...filter, hasExpiration: false, kinds: kinds.filter(isOwned) }
  return [
    ...(filter.hasExpiration === true || owned.kinds.length === 0
      ? []
      : [{ ...scan({ kind: 'HOLDER', value }, rest), filter: owned }]),
    scan({ kind: 'EXPIRING_OWNER', value }, rest),
  ]
}

function isOwned(kind: number): boolean {
  return kind !== AnchorOutput.code
}

/** Intersects the bounds of slots with the bounds of positions. */
function within(
  { after: afterSlot, before: beforeSlot }: SlotBounds = {},
  after: OutputPosition | undefined,
  before: OutputPosition | undefined,
) {
  const low = afterSlot === undefined ? undefined : { bookedSlot: afterSlot, outputId: maxOutputId }
  const high =
    beforeSlot === undefined ? undefined : { bookedSlot: beforeSlot, outputId: minOutputId }
  return { after: further(after, low, 1), before: further(before, high, -1) }
}

function further(
  a: OutputPosition | undefined,
  b: OutputPosition | undefined,
  sign: 1 | -1,
): OutputPosition | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return sign * comparePositions(placeOf(a), placeOf(b)) > 0 ? a : b
}

const minOutputId: OutputId = `0x${'00'.repeat(38)}` as OutputId
const maxOutputId: OutputId = `0x${'ff'.repeat(38)}` as OutputId

function placeOf({ bookedSlot, outputId }: OutputPosition) {
  return [bookedSlot, outputId] as const
}
