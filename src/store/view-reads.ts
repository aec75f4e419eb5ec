import type { IndexKey } from '../ledger/index-keys.ts'
import { Output } from '../protocol/outputs.ts'
import { comparePositions } from './positions.ts'
import type { OutputRow } from './rows.ts'
import { activityReads } from './sql/activity-reads.ts'
import { chainReads } from './sql/chain-reads.ts'
import type { Reading } from './sql/reading.ts'
import { searchReads } from './sql/search-reads.ts'
import { balanceReads, scanUnspent, type UnspentScan } from './sql/view-reads.ts'
import type { UnspentFilter, UnspentQuery, ViewReader } from './view-contract.ts'

/** Reads of what is kept beside the log: balances, and which outputs are unspent. */
export function viewReads(reading: Reading): ViewReader {
  return {
    ...balanceReads(reading),
    ...activityReads(reading),
    ...chainReads(reading),
    ...searchReads(reading),
    unspentOutputs: (question) => readUnspent(reading, question),
  }
}

/** Runs a scan for each way in which an output can be meant, and merges them. */
async function readUnspent(reading: Reading, question: UnspentQuery): Promise<OutputRow[]> {
  const scans = scansOf(question)
  const found = await Promise.all(scans.map((scan) => scanUnspent(reading, scan)))
  const rows = found.flat()
  const sign = question.order === 'descending' ? -1 : 1
  if (scans.length > 1) rows.sort((a, b) => sign * comparePositions(placeOf(a), placeOf(b)))
  const isFirst = (row: OutputRow, i: number) => row.outputId !== rows[i - 1]?.outputId
  return rows.filter(isFirst).slice(0, question.limit)
}

function scansOf({
  filter,
  after,
  before,
  order = 'ascending',
  limit,
}: UnspentQuery): UnspentScan[] {
  const { heldBy, anyOf, keys = [], kinds = allKinds } = filter
  const scan = (by: UnspentScan['by'], also: readonly IndexKey[] = keys) => ({
    by,
    also,
    filter,
    after,
    before,
    order,
    limit,
  })
  if (heldBy !== undefined) {
    // Those that expire have a holder of their own.
    const plain = { ...scan({ kind: 'OWNER', value: heldBy }), filter: unexpiring(filter) }
    return [
      ...(filter.hasExpiration === true ? [] : [plain]),
      scan({ kind: 'STATE_CONTROLLER', value: heldBy }),
      scan({ kind: 'HOLDER', value: heldBy }),
    ]
  }
  if (anyOf !== undefined) return anyOf.map((term) => scan(term))
  const [first, ...rest] = keys
  if (first !== undefined) return [scan(first, rest)]
  return kinds.map((kind) => scan({ kind }))
}

function unexpiring(filter: UnspentFilter): UnspentFilter {
  return { ...filter, hasExpiration: false }
}

/** The type codes of outputs. */
const allKinds = Output.variants.map(({ code }) => code)

function placeOf({ bookedSlot, outputId }: OutputRow) {
  return [bookedSlot, outputId] as const
}
