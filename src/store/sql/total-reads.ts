import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { TotalAt, ViewReader } from '../contract/view.ts'
import { classToNumber } from '../values.ts'
import type { Dialect } from './bulk.ts'
import { publishedCommitments, publishedUpdates } from './published.ts'
import type { Reading } from './reading.ts'

/** Reads of the totals of addresses at the ends of slots. Each slot takes a few index lookups, however long the history is. */
export function totalReads({ query, dialect }: Reading) {
  const totals = totalsStatement(dialect)
  const firstOwned = firstStatement(dialect)

  const totalsAt: ViewReader['totalsAt'] = async (address, slots) => {
    if (slots.length === 0) return []
    const given = dialect.json(
      [slotColumn],
      slots.map((slot) => [slot]),
    )
    const rows = await query(totals, [given, hexToBytes(address), owned])
    return rows.flatMap(totalOfRow)
  }

  return {
    totalsAt,
    totalAt: async (address: Hex, slot: SlotIndex) => (await totalsAt(address, [slot]))[0]?.total,
    firstOwned: async (address) => {
      const [found = []] = await query(firstOwned, [hexToBytes(address), owned])
      const slots = found.flatMap((slot) => (slot === null ? [] : [Number(slot)]))
      return slots.length === 0 ? undefined : Math.min(...slots)
    },
  } satisfies Partial<ViewReader>
}

const owned = classToNumber('OWNED')
const slotColumn = { name: 'slot', type: 'long' } as const

/**
 * Reads for each committed slot the newest row of the log up to its end, the pruned tip if there is no row, and the last expiration
 * transfer. The given slots come first because their parameter has no number on SQLite. Bounds are row values as in `keyset.ts`:
 * otherwise PostgreSQL scanned the whole log backwards for an address with few rows when another address had most of the log.
 */
function totalsStatement(dialect: Dialect): string {
  const given = dialect.given([slotColumn])
  const ofAddress = { address: '?2', class: '?3', direction: 'DESC', limit: '1' } as const
  const newest =
    dialect.shards?.ofAddress({ ...ofAddress, to: '<= commitments."lastSeq"' }) ??
    `FROM ledger_updates WHERE (address, class, seq) >= (?2, ?3, 0)
          AND (address, class, seq) <= (?2, ?3, +commitments."lastSeq")
          ORDER BY address DESC, class DESC, seq DESC LIMIT 1`
  const found =
    dialect.shards === undefined
      ? 'ledger_updates ON ledger_updates.seq = found.seq'
      : `LATERAL (SELECT * ${dialect.shards.ofAddress({
          ...ofAddress,
          ...{ from: '>= found.seq', to: '<= found.seq' },
        })}) AS ledger_updates ON true`
  return `WITH asked AS (SELECT given.slot FROM ${given}),
    found AS MATERIALIZED (
      SELECT commitments.slot,
        (SELECT seq ${newest}) AS seq,
        (SELECT slot FROM expiration_transfers WHERE address = ?2
          AND slot <= commitments.slot ORDER BY slot DESC LIMIT 1) AS transferred
      FROM asked CROSS JOIN ${publishedCommitments('commitments')} WHERE commitments.slot = asked.slot)
    SELECT found.slot,
      coalesce(ledger_updates."milestoneIndex", pruned_tips."milestoneIndex"),
      CAST(coalesce(ledger_updates.balance, pruned_tips.balance) AS TEXT),
      transfers.slot, CAST(transfers.total AS TEXT)
    FROM found
    LEFT JOIN ${found}
    LEFT JOIN pruned_tips ON found.seq IS NULL AND pruned_tips.address = ?2 AND pruned_tips.class = ?3
    LEFT JOIN expiration_transfers AS transfers
      ON transfers.address = ?2 AND transfers.slot = found.transferred
    ORDER BY found.slot`
}

/** Returns the newer of the row of the log and the expiration transfer. Returns no total for a slot before the pruned tip. */
function totalOfRow([at, row, balance, transfer, total]: readonly unknown[]): TotalAt[] {
  const slot = Number(at)
  const changedIn = row === null ? undefined : Number(row)
  if (changedIn !== undefined && changedIn > slot) return []
  if (transfer !== null && (changedIn === undefined || changedIn < Number(transfer))) {
    return [{ slot, total: BigInt(String(total)), changedIn: Number(transfer) }]
  }
  const isOwned = changedIn !== undefined
  return [{ slot, total: isOwned ? BigInt(String(balance)) : 0n, changedIn }]
}

/** 2^53 - 1. */
const lastSeq = Number.MAX_SAFE_INTEGER

/** Reads the slots of the first row of the log, of the pruned tip, and of the first expiration transfer. A missing one is null. */
function firstStatement({ shards }: Dialect): string {
  const ofAddress = { address: '?1', class: '?2', direction: 'ASC', limit: '1' } as const
  const first =
    shards?.ofAddress(ofAddress) ??
    `FROM ${publishedUpdates('ledger_updates')}
    WHERE (address, class, seq) >= (?1, ?2, 0) AND (address, class, seq) <= (?1, ?2, ${lastSeq})
    ORDER BY address, class, seq LIMIT 1`
  return `SELECT
  (SELECT "milestoneIndex" ${first}),
  (SELECT "milestoneIndex" FROM pruned_tips WHERE address = ?1 AND class = ?2),
  (SELECT slot FROM expiration_transfers WHERE address = ?1 ORDER BY slot LIMIT 1)`
}
