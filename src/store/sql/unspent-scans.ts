import { Prisma } from '../../generated/prisma/client.ts'
import type { IndexKey } from '../../ledger/index-keys.ts'
import { hexToBytes } from '../../lib/hex.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { Parameter } from '../database.ts'
import type { OutputRow } from '../rows.ts'
import { indexKindToNumber } from '../values.ts'
import type { OutputPosition, UnspentFilter } from '../view-contract.ts'
import { outputRows } from './bulk-tables.ts'
import { selected } from './columns.ts'
import { publishedSlot } from './published.ts'
import type { Reading } from './reading.ts'

/** Scans of the unspent outputs, each in the order of one index. */

const newestSlot = Prisma.raw(publishedSlot)

/** Where a scan of unspent outputs begins, and which of them it lets through. */
export interface UnspentScan {
  /** What every output of the scan has: an index key, or a kind of output. */
  readonly by: IndexKey | { readonly kind: number }
  /** Index keys that each must have besides. */
  readonly also: readonly IndexKey[]
  readonly filter: UnspentFilter
  /** Both exclusive. */
  readonly after: OutputPosition | undefined
  readonly before: OutputPosition | undefined
  /** Inclusive. */
  readonly through: OutputPosition | undefined
  readonly order: 'ascending' | 'descending'
  readonly limit: number
}

/** Gives the unspent outputs of a scan in the order of their places. */
export function unspentScan({
  query,
  dialect,
}: Reading): (scan: UnspentScan) => Promise<OutputRow[]> {
  const columns = selected(dialect, outputRows)
  return async (scan) => {
    const { sql, values } = scanText(scan)
    return (await query(`SELECT ${columns} ${sql}`, values as Parameter[])).map(outputRows.rowOf)
  }
}

/** What follows the columns. */
function scanText(scan: UnspentScan): Prisma.Sql {
  const { by, also, filter, limit } = scan
  // Cross joins are made in the order written, which is that of the index that the places are in.
  const [from, isMeant, found] =
    'value' in by
      ? [
          Prisma.sql`index_keys AS found CROSS JOIN unspent_outputs AS unspent CROSS JOIN outputs`,
          Prisma.sql`${ofKey(by, 'found')} AND unspent."outputId" = found."outputId"`,
          'found',
        ]
      : [
          Prisma.sql`unspent_outputs AS unspent CROSS JOIN outputs`,
          Prisma.sql`unspent.kind = ${by.kind}`,
          'unspent',
        ]
  const { slot, within: inPart, order } = partOf(scan, found)
  const conditions = [
    isMeant,
    Prisma.sql`outputs.id = unspent."outputId"`,
    ...conditionsOf(filter, slot),
    ...also.map(hasKey),
    ...inPart,
  ]
  return Prisma.sql`FROM ${from} WHERE ${Prisma.join(conditions, ' AND ')} ${order} LIMIT ${limit}`
}

/** Where a scan has walked over so many outputs; `undefined` where it ends before. */
export async function stopOf(
  { query, dialect }: Reading,
  scan: UnspentScan,
  walked: number,
): Promise<OutputPosition | undefined> {
  const { by } = scan
  const [from, isMeant] =
    'value' in by
      ? [Prisma.sql`index_keys`, ofKey(by, 'index_keys')]
      : [Prisma.sql`unspent_outputs`, Prisma.sql`unspent_outputs.kind = ${by.kind}`]
  const { within: inPart, order } = partOf(scan, from.sql)
  const conditions = [isMeant, ...inPart]
  const { sql, values } = Prisma.sql`FROM ${from} WHERE ${Prisma.join(conditions, ' AND ')}
    ${order} LIMIT 1 OFFSET ${Prisma.raw(String(walked - 1))}`
  const columns = `"bookedSlot", ${dialect.hex('"outputId"')}`
  const [row] = await query(`SELECT ${columns} ${sql}`, values as Parameter[])
  return row && { bookedSlot: Number(row[0]), outputId: String(row[1]) as OutputId }
}

function ofKey({ kind, value }: IndexKey, name: string): Prisma.Sql {
  const [k, v] = [Prisma.raw(`${name}.kind`), Prisma.raw(`${name}.value`)]
  return Prisma.sql`${k} = ${indexKindToNumber(kind)} AND ${v} = ${hexToBytes(value)}`
}

/**
 * The part of the places that is walked, and in which order; `name` is that of the table that has the places. It has one bound at
 * each end: of two SQLite takes any one for its index, and walks as far as that.
 */
function partOf({ after, before, through, order }: UnspentScan, name: string) {
  const slot = Prisma.raw(`${name}."bookedSlot"`)
  const id = Prisma.raw(`${name}."outputId"`)
  const isUp = order === 'ascending'
  const bounds = [
    !isUp && through !== undefined ? (['>=', through] as const) : (['>', after] as const),
    isUp && through !== undefined ? (['<=', through] as const) : (['<', before] as const),
  ]
  const direction = Prisma.raw(isUp ? 'ASC' : 'DESC')
  return {
    slot,
    within: bounds.flatMap(([comparison, place]) =>
      place === undefined
        ? []
        : [
            Prisma.sql`(${slot}, ${id}) ${Prisma.raw(comparison)} (${place.bookedSlot}, ${hexToBytes(place.outputId)})`,
          ],
    ),
    order: Prisma.sql`ORDER BY ${slot} ${direction}, ${id} ${direction}`,
  }
}

function hasKey({ kind, value }: IndexKey): Prisma.Sql {
  return Prisma.sql`EXISTS (SELECT 1 FROM index_keys AS other
    WHERE other.kind = ${indexKindToNumber(kind)} AND other.value = ${hexToBytes(value)}
      AND other."bookedSlot" = unspent."bookedSlot" AND other."outputId" = unspent."outputId")`
}

function conditionsOf(filter: UnspentFilter, slot: Prisma.Sql): Prisma.Sql[] {
  const { timelocked, expires } = filter
  const conditions = [
    filter.asOf === 'BOOKED'
      ? Prisma.sql`outputs."spentSlot" IS NULL`
      : Prisma.sql`${slot} <= ${newestSlot}`,
    ...within(Prisma.sql`unspent."timelockSlot"`, timelocked),
    ...within(Prisma.sql`unspent."expirationSlot"`, expires),
    ...isThere(Prisma.sql`unspent."timelockSlot"`, filter.hasTimelock),
    ...isThere(Prisma.sql`unspent."expirationSlot"`, filter.hasExpiration),
  ]
  const { hasReturn, hasToken, kinds } = filter
  if (hasReturn !== undefined) conditions.push(Prisma.sql`unspent."hasReturn" = ${hasReturn}`)
  if (hasToken !== undefined) conditions.push(Prisma.sql`unspent."hasToken" = ${hasToken}`)
  if (kinds !== undefined) conditions.push(Prisma.sql`unspent.kind IN (${Prisma.join([...kinds])})`)
  return conditions
}

function within(column: Prisma.Sql, bounds: UnspentFilter['created']): Prisma.Sql[] {
  const { after, before } = bounds ?? {}
  return [
    ...(after === undefined ? [] : [Prisma.sql`${column} > ${after}`]),
    ...(before === undefined ? [] : [Prisma.sql`${column} < ${before}`]),
  ]
}

function isThere(column: Prisma.Sql, wanted: boolean | undefined): Prisma.Sql[] {
  if (wanted === undefined) return []
  return [wanted ? Prisma.sql`${column} IS NOT NULL` : Prisma.sql`${column} IS NULL`]
}
