import { LRUCache } from 'lru-cache'
import type { IndexKey } from '../../ledger/index-keys.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { hexToBytes } from '../../lib/hex.ts'
import { AnchorOutput } from '../../protocol/outputs.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { OutputKey, OutputPosition, UnspentFilter } from '../contract/view.ts'
import type { Parameter } from '../database.ts'
import type { OutputRow } from '../rows.ts'
import { indexKindToNumber } from '../values.ts'
import { outputRows } from './bulk-tables.ts'
import { selected } from './columns.ts'
import { publishedSlot } from './published.ts'
import type { Reading } from './reading.ts'

/** Scans of unspent outputs, each in the order of one index. */

/** Range and conditions of a scan of unspent outputs. */
export interface UnspentScan {
  /** Index key or kind that selects the index. */
  readonly by: IndexKey | { readonly kind: number }
  /** Additional keys that each output must have. */
  readonly also: readonly OutputKey[]
  readonly filter: UnspentFilter
  /** Exclusive lower bound. */
  readonly after: OutputPosition | undefined
  /** Exclusive upper bound. */
  readonly before: OutputPosition | undefined
  /** Inclusive last position in the direction of the scan. */
  readonly through: OutputPosition | undefined
  readonly order: 'ascending' | 'descending'
  readonly limit: number
}

/** Part of a statement, with the values of its parameters in order. */
type Part = readonly [text: string, ...values: readonly Parameter[]]

/** Creates the read of the outputs of a scan, in the order of their positions. */
export function unspentScan({
  query,
  dialect,
}: Reading): (scan: UnspentScan) => Promise<OutputRow[]> {
  const textOf = joinedTexts(`SELECT ${selected(dialect, outputRows)}`)
  return async (scan) => {
    const parts = scanParts(scan)
    return (await query(textOf(parts), valuesOf(parts))).map(outputRows.rowOf)
  }
}

/**
 * Returns a function that joins the parts of a statement. It caches the joined texts by the numbers of their parts: joining and hashing
 * a long text takes as long as reading an output.
 */
function joinedTexts(first: string): (parts: readonly Part[]) => string {
  const numbers = new Map<string, number>()
  const texts = new LRUCache<string, string>({ max: maxTexts })
  return (parts) => {
    let form = ''
    for (const [text] of parts) {
      const number = getOrInsert(numbers, text, () => numbers.size)
      form += `${number},`
    }
    return getOrInsert(texts, form, () => `${first} ${parts.map(([one]) => one).join(' ')}`)
  }
}

/** Joined texts in the cache. Few are in use, but a client may cause many. */
const maxTexts = 200

function valuesOf(parts: readonly Part[]): Parameter[] {
  return parts.flatMap(([, ...values]) => values)
}

/** SQLite runs cross joins in the order written. So the first table is the one whose index has the order of the positions. */
const byKind = 'FROM unspent_outputs AS unspent CROSS JOIN outputs WHERE unspent.kind = ?'
const byKeyAlone =
  'FROM index_keys AS found CROSS JOIN outputs WHERE found.kind = ? AND found.value = ?'
const byKey = `FROM index_keys AS found CROSS JOIN unspent_outputs AS unspent CROSS JOIN outputs
  WHERE found.kind = ? AND found.value = ? AND unspent."outputId" = found."outputId"`

/** Returns the statement of a scan after its columns. */
function scanParts(scan: UnspentScan): Part[] {
  const { by, also, filter, limit } = scan
  const found = 'value' in by ? 'found' : 'unspent'
  const conditions = [...conditionsOf(filter), ...also.map(conditionOfKey)]
  return [
    'value' in by
      ? [conditions.length === 0 ? byKeyAlone : byKey, ...keyParameters(by)]
      : [byKind, by.kind],
    [`AND outputs.id = ${found}."outputId"`],
    filter.asOf === 'BOOKED'
      ? ['AND outputs."spentSlot" IS NULL']
      : [`AND ${found}."bookedSlot" <= ${publishedSlot}`],
    ...conditions,
    ...rangeOf(scan, found),
    ['LIMIT ?', limit],
  ]
}

/** Reads the position of the last of the first `scanned` outputs of a scan, regardless of its filter; `undefined` if there are fewer. */
export async function readScanEnd(
  { query, dialect }: Reading,
  scan: UnspentScan,
  scanned: number,
): Promise<OutputPosition | undefined> {
  const { by } = scan
  const parts: Part[] = [
    'value' in by
      ? ['FROM index_keys AS scanned WHERE kind = ? AND value = ?', ...keyParameters(by)]
      : ['FROM unspent_outputs AS scanned WHERE kind = ?', by.kind],
    ...rangeOf(scan, 'scanned'),
    [`LIMIT 1 OFFSET ${scanned - 1}`],
  ]
  const text = `SELECT "bookedSlot", ${dialect.hex('"outputId"')} ${parts.map(([one]) => one).join(' ')}`
  const [row] = await query(text, valuesOf(parts))
  return row && { bookedSlot: Number(row[0]), outputId: String(row[1]) as OutputId }
}

export function keyParameters({ kind, value }: IndexKey): Parameter[] {
  return [indexKindToNumber(kind), hexToBytes(value)]
}

/**
 * Returns the range of a scan and its order. `name` is the table that has the positions. The range has one bound at each end: of two
 * bounds at one end, SQLite uses either one for its index, and scans as far as that bound.
 */
function rangeOf({ after, before, through, order }: UnspentScan, name: string): Part[] {
  const isUp = order === 'ascending'
  const bounds = [
    !isUp && through !== undefined ? (['>=', through] as const) : (['>', after] as const),
    isUp && through !== undefined ? (['<=', through] as const) : (['<', before] as const),
  ]
  const direction = isUp ? 'ASC' : 'DESC'
  const [slot, id] = [`${name}."bookedSlot"`, `${name}."outputId"`]
  return [
    ...bounds.flatMap(([comparison, place]): Part[] =>
      place === undefined
        ? []
        : [
            [
              `AND (${slot}, ${id}) ${comparison} (?, ?)`,
              place.bookedSlot,
              hexToBytes(place.outputId),
            ],
          ],
    ),
    [`ORDER BY ${slot} ${direction}, ${id} ${direction}`],
  ]
}

function conditionOfKey(key: OutputKey): Part {
  const { value } = key
  if (key.kind !== 'OWNER') return [`AND ${hasKey}`, ...keyParameters(key)]
  return [
    hasOwner,
    ...keyParameters({ kind: 'EXPIRING_OWNER', value }),
    AnchorOutput.code,
    ...keyParameters({ kind: 'HOLDER', value }),
  ]
}

const hasKey = `EXISTS (SELECT 1 FROM index_keys AS other
  WHERE other.kind = ? AND other.value = ?
    AND other."bookedSlot" = unspent."bookedSlot" AND other."outputId" = unspent."outputId")`
const hasOwner = `AND (${hasKey}
  OR unspent."expirationSlot" IS NULL AND unspent.kind <> ? AND ${hasKey})`

function conditionsOf(filter: UnspentFilter): Part[] {
  const { timelocked, expires, hasReturn, hasToken, kinds } = filter
  const parts: Part[] = [
    ...within('unspent."timelockSlot"', timelocked),
    ...within('unspent."expirationSlot"', expires),
    ...nullCheck('unspent."timelockSlot"', filter.hasTimelock),
    ...nullCheck('unspent."expirationSlot"', filter.hasExpiration),
  ]
  if (hasReturn !== undefined) parts.push(['AND unspent."hasReturn" = ?', hasReturn])
  if (hasToken !== undefined) parts.push(['AND unspent."hasToken" = ?', hasToken])
  if (kinds !== undefined) {
    parts.push([`AND unspent.kind IN (${kinds.map(() => '?').join(', ')})`, ...kinds])
  }
  return parts
}

function within(column: string, { after, before }: UnspentFilter['created'] = {}): Part[] {
  return [
    ...(after === undefined ? [] : [[`AND ${column} > ?`, after] as const]),
    ...(before === undefined ? [] : [[`AND ${column} < ?`, before] as const]),
  ]
}

function nullCheck(column: string, wanted: boolean | undefined): Part[] {
  if (wanted === undefined) return []
  return [[`AND ${column} IS ${wanted ? 'NOT NULL' : 'NULL'}`]]
}
