import { Prisma } from '../../generated/prisma/client.ts'
import { noBalance } from '../../ledger/balances-of-address.ts'
import type { IndexKey } from '../../ledger/index-keys.ts'
import { hexToBytes } from '../../lib/hex.ts'
import type { Parameter } from '../database.ts'
import type { OutputRow } from '../rows.ts'
import { indexKindToNumber } from '../values.ts'
import type { OutputPosition, UnspentFilter, ViewReader } from '../view-contract.ts'
import { jsonOf } from './bulk.ts'
import {
  balanceAddresses,
  balanceRanges,
  balances,
  expirationTransfers,
  outputRows,
  tokenBalances,
} from './bulk-tables.ts'
import { selected } from './columns.ts'
import { publishedSlot } from './published.ts'
import { both, boundsOf, type Reading } from './reading.ts'
import { totalReads } from './total-reads.ts'

/**
 * Reads of what is kept beside the log, in SQL that both databases understand. Each is one statement, and so is of one
 * moment: the slot of the newest commitment comes with it.
 */
export function balanceReads(reading: Reading) {
  const { asOf, dialect, rows: all } = reading
  const transfers = all(
    expirationTransfers,
    'WHERE address = ? AND slot > ? AND slot <= ? ORDER BY slot LIMIT ?',
  )
  const ofTransaction = all(outputRows, 'WHERE id BETWEEN ? AND ?')
  const balance = asOf(balances, 'balances ON balances.address = ?')
  const many = asOf(
    balances,
    `balances ON balances.address IN (SELECT address FROM ${dialect.given(balanceAddresses.columns)})`,
  )
  const tokens = both((direction) =>
    all(
      tokenBalances,
      `WHERE address = ? AND "tokenId" > ? AND "tokenId" < ?
        ORDER BY token_balances."tokenId" ${direction} LIMIT ?`,
    ),
  )
  // Of those that own the same the last in the order of bytes comes first.
  const richest = asOf(
    balances,
    `(SELECT * FROM balances ORDER BY total DESC, address DESC LIMIT ?) AS balances ON true
      ORDER BY balances.total DESC, balances.address DESC`,
  )
  const ranges = asOf(balanceRanges, 'balance_ranges ON true ORDER BY balance_ranges.exponent')

  return {
    balance: async (address) => {
      const { slot, rows } = await balance(hexToBytes(address))
      if (rows[0] === undefined) return { slot, balance: noBalance }
      const { address: _owner, total: _total, ...kept } = rows[0]
      return { slot, balance: kept }
    },
    balances: async (addresses) => {
      const keys = addresses.map((address) => ({ address }))
      const { slot, rows } = await many(jsonOf(dialect, balanceAddresses, keys))
      const found = rows.map(({ address, total: _total, ...kept }) => [address, kept] as const)
      return { slot, balances: new Map(found) }
    },
    tokenBalances: async (address, part, { order, limit }) => {
      const rows = await tokens[order](hexToBytes(address), ...boundsOf(part), limit)
      return rows.map(({ tokenId, available, timelocked, expiring }) => ({
        tokenId,
        balance: {
          available: BigInt(available),
          timelocked: BigInt(timelocked),
          expiring: BigInt(expiring),
        },
      }))
    },
    ...totalReads(reading),
    expirationTotals: (address, { after, upTo, limit }) =>
      transfers(hexToBytes(address), after, upTo, limit),
    outputsOfTransaction: (transactionId) => {
      const digits = transactionId.slice(2)
      // Two bytes of index follow the id.
      return ofTransaction(hexToBytes(`0x${digits}0000`), hexToBytes(`0x${digits}ffff`))
    },
    richestAddresses: async (limit) => {
      const { slot, rows } = await richest(limit)
      return { slot, owners: rows.map(({ address, total }) => ({ address, total })) }
    },
    balanceRanges: async () => {
      const { slot, rows } = await ranges()
      return { slot, ranges: rows }
    },
  } satisfies Partial<ViewReader>
}

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
  readonly order: 'ascending' | 'descending'
  readonly limit: number
}

/** Unspent outputs in the order of their places. */
export async function scanUnspent(
  { query, dialect }: Reading,
  scan: UnspentScan,
): Promise<OutputRow[]> {
  const { by, also, filter, after, before, order, limit } = scan
  // Cross joins are made in the order written, which is that of the index that the places are in.
  const [from, isMeant] = !('value' in by)
    ? [
        Prisma.sql`unspent_outputs AS unspent CROSS JOIN outputs`,
        Prisma.sql`unspent.kind = ${by.kind}`,
      ]
    : [
        Prisma.sql`index_keys AS found CROSS JOIN unspent_outputs AS unspent
            CROSS JOIN outputs`,
        Prisma.sql`found.kind = ${indexKindToNumber(by.kind)} AND found.value = ${hexToBytes(by.value)}
            AND unspent."outputId" = found."outputId"`,
      ]
  const slot = !('value' in by) ? Prisma.sql`unspent."bookedSlot"` : Prisma.sql`found."bookedSlot"`
  const id = !('value' in by) ? Prisma.sql`unspent."outputId"` : Prisma.sql`found."outputId"`
  const conditions = [
    isMeant,
    Prisma.sql`outputs.id = unspent."outputId"`,
    ...conditionsOf(filter, slot),
    ...also.map(hasKey),
  ]
  if (after !== undefined) {
    const { bookedSlot, outputId } = after
    conditions.push(Prisma.sql`(${slot}, ${id}) > (${bookedSlot}, ${hexToBytes(outputId)})`)
  }
  if (before !== undefined) {
    const { bookedSlot, outputId } = before
    conditions.push(Prisma.sql`(${slot}, ${id}) < (${bookedSlot}, ${hexToBytes(outputId)})`)
  }
  const direction = order === 'ascending' ? Prisma.sql`ASC` : Prisma.sql`DESC`
  const { sql, values } = Prisma.sql`FROM ${from} WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY ${slot} ${direction}, ${id} ${direction} LIMIT ${limit}`
  const rows = await query(`SELECT ${selected(dialect, outputRows)} ${sql}`, values as Parameter[])
  return rows.map(outputRows.rowOf)
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
      ? Prisma.sql`outputs."spentSlot" IS NULL`
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
