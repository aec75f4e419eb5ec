import {
  type Balance,
  type BalanceRange,
  type Output,
  Prisma,
  type TokenBalance,
} from '../../generated/prisma/client.ts'
import type { IndexKey } from '../../ledger/index-keys.ts'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { Client } from '../client.ts'
import { indexKindToNumber } from '../values.ts'
import type { OutputPosition, UnspentFilter } from '../view-contract.ts'

/**
 * Reads of what is kept beside the log, in SQL that both databases understand. Each is one statement, and so is of one
 * moment: the slot of the newest commitment comes with it.
 */

/** A column of the newest commitment, beside columns that are null where nothing is kept. */
type AsOf<Row> = { readonly asOf: bigint } & { readonly [C in keyof Row]: Row[C] | null }

const newestSlot = Prisma.sql`(SELECT slot FROM commitments ORDER BY slot DESC LIMIT 1)`

/** The balance of an address. */
export async function balanceAsOf(
  client: Client,
  address: Hex,
): Promise<AsOf<Balance> | undefined> {
  const rows = await client.$queryRaw<AsOf<Balance>[]>`
    SELECT newest.slot AS "asOf", kept.* FROM ${newestSlot} AS newest
    LEFT JOIN balances AS kept ON kept.address = ${hexToBytes(address)}`
  return rows[0]
}

/** The native tokens of an address after one, in the order of their ids; one row of nulls where there are none. */
export function tokensAsOf(
  client: Client,
  address: Hex,
  { after, limit }: { readonly after: Hex; readonly limit: number },
): Promise<AsOf<TokenBalance>[]> {
  return client.$queryRaw<AsOf<TokenBalance>[]>`
    SELECT newest.slot AS "asOf", kept.* FROM ${newestSlot} AS newest
    LEFT JOIN (
      SELECT * FROM token_balances
      WHERE address = ${hexToBytes(address)} AND "tokenId" > ${hexToBytes(after)}
      ORDER BY "tokenId" LIMIT ${limit}) AS kept ON true
    ORDER BY kept."tokenId"`
}

/** The addresses that own most; of those that own the same the last in the order of bytes comes first. */
export function richestAsOf(client: Client, limit: number): Promise<AsOf<Balance>[]> {
  return client.$queryRaw<AsOf<Balance>[]>`
    SELECT newest.slot AS "asOf", kept.* FROM ${newestSlot} AS newest
    LEFT JOIN (SELECT * FROM balances ORDER BY total DESC, address DESC LIMIT ${limit}) AS kept
      ON true
    ORDER BY kept.total DESC, kept.address DESC`
}

/** The ranges of what addresses own, the poorest first. */
export function rangesAsOf(client: Client): Promise<AsOf<BalanceRange>[]> {
  return client.$queryRaw<AsOf<BalanceRange>[]>`
    SELECT newest.slot AS "asOf", kept.* FROM ${newestSlot} AS newest
    LEFT JOIN balance_ranges AS kept ON true
    ORDER BY kept.exponent`
}

/** Where a scan of unspent outputs begins, and which of them it lets through. */
export interface UnspentScan {
  /** What every output of the scan has: an index key, or a kind of output. */
  readonly by: IndexKey | { readonly kind: number }
  /** Index keys that each must have besides. */
  readonly also: readonly IndexKey[]
  readonly filter: UnspentFilter
  /** Exclusive. */
  readonly after: OutputPosition | undefined
  readonly limit: number
}

/** Unspent outputs in the order of their places. */
export function scanUnspent(client: Client, scan: UnspentScan): Promise<Output[]> {
  const { by, also, filter, after, limit } = scan
  // Cross joins are made in the order written, which is that of the index that the places are in.
  const [from, isMeant] = !('value' in by)
    ? [
        Prisma.sql`unspent_outputs AS unspent CROSS JOIN outputs AS output`,
        Prisma.sql`unspent.kind = ${by.kind}`,
      ]
    : [
        Prisma.sql`index_keys AS found CROSS JOIN unspent_outputs AS unspent
            CROSS JOIN outputs AS output`,
        Prisma.sql`found.kind = ${indexKindToNumber(by.kind)} AND found.value = ${hexToBytes(by.value)}
            AND unspent."outputId" = found."outputId"`,
      ]
  const slot = !('value' in by) ? Prisma.sql`unspent."bookedSlot"` : Prisma.sql`found."bookedSlot"`
  const id = !('value' in by) ? Prisma.sql`unspent."outputId"` : Prisma.sql`found."outputId"`
  const conditions = [
    isMeant,
    Prisma.sql`output.id = unspent."outputId"`,
    ...conditionsOf(filter, slot),
    ...also.map(hasKey),
  ]
  if (after !== undefined) {
    const { bookedSlot, outputId } = after
    conditions.push(Prisma.sql`(${slot}, ${id}) > (${bookedSlot}, ${hexToBytes(outputId)})`)
  }
  return client.$queryRaw<Output[]>`
    SELECT output.id, output.bytes, output."blockId", output."bookedSlot", output."spentSlot",
      output."spentBy"
    FROM ${from} WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY ${slot}, ${id} LIMIT ${limit}`
}

function hasKey({ kind, value }: IndexKey): Prisma.Sql {
  return Prisma.sql`EXISTS (SELECT 1 FROM index_keys AS other
    WHERE other.kind = ${indexKindToNumber(kind)} AND other.value = ${hexToBytes(value)}
      AND other."bookedSlot" = unspent."bookedSlot" AND other."outputId" = unspent."outputId")`
}

function conditionsOf(filter: UnspentFilter, slot: Prisma.Sql): Prisma.Sql[] {
  const { timelocked, expires, created } = filter
  const conditions = [
    filter.asOf === 'BOOKED'
      ? Prisma.sql`output."spentSlot" IS NULL`
      : Prisma.sql`${slot} <= ${newestSlot}`,
    ...within(slot, created),
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
