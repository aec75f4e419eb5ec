import { noBalance } from '../../ledger/balances-of-address.ts'
import { hexToBytes } from '../../lib/hex.ts'
import type { ViewReader } from '../contract/view.ts'
import { jsonOf } from './bulk.ts'
import {
  balanceAddresses,
  balanceRanges,
  balances,
  expirationTransfers,
  outputRows,
  tokenBalances,
} from './bulk-tables.ts'
import { both, boundsOf, type Reading } from './reading.ts'
import { totalReads } from './total-reads.ts'

/**
 * Reads of the balances beside the log, in SQL that both databases understand. Each read is one statement, so its rows and the slot of
 * the newest commitment belong to one snapshot.
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
      // An output id is the transaction id and two bytes of index.
      return ofTransaction(hexToBytes(`0x${digits}0000`), hexToBytes(`0x${digits}ffff`))
    },
    ...distributionReads(reading),
  } satisfies Partial<ViewReader>
}

/** Reads of the distribution of base tokens over addresses. */
function distributionReads({ asOf }: Reading) {
  // Addresses with equal totals are in descending order of their bytes.
  const richest = asOf(
    balances,
    `(SELECT * FROM balances ORDER BY total DESC, address DESC LIMIT ?) AS balances ON true
      ORDER BY balances.total DESC, balances.address DESC`,
  )
  const ranges = asOf(balanceRanges, 'balance_ranges ON true ORDER BY balance_ranges.exponent')

  return {
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
