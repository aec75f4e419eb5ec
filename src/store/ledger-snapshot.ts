import { accountEntryBytes } from '../ledger/accounts.ts'
import { applyMoves, type BalanceMove } from '../ledger/balances-of-address.ts'
import { chainOf } from '../ledger/chain-states.ts'
import { holdingAt } from '../ledger/holdings.ts'
import { present } from '../lib/assert.ts'
import { hexToBytes } from '../lib/hex.ts'
import { ok, type Result } from '../lib/result.ts'
import { passTurn } from '../lib/turns.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import type { LeaseTerm } from './contract/lease.ts'
import type { SnapshotEnd, SnapshotOutput, SnapshotPart } from './contract/ledger-snapshot.ts'
import { inChunks, inSmallChunks } from './in-chunks.ts'
import type { LogTip } from './rows.ts'
import * as table from './sql/bulk-tables.ts'
import { snapshotProgress } from './sql/ledger-snapshot-tables.ts'
import type { RawWriting, Writing } from './sql/statements.ts'
import { accountEntries } from './sql/trie-tables.ts'
import { addBaseTokens, tokensBefore, tokensOf, writeNativeTokens } from './write/balance-rows.ts'
import { closeSlots } from './write/inbox.ts'
import { insertFormerOutputs } from './write/output-index.ts'
import { publishFirst } from './write/publish.ts'

/**
 * Imports the snapshot of a ledger into a new database. Its tables are then as if the log had been pruned up to the end of the slot. The
 * network is written last, because a database without a network is not in use.
 */

/** Adds the rows of a part. The caller holds the lease. `finishSnapshot` counts the balance ranges. */
export async function addToSnapshot(
  writing: RawWriting,
  term: number,
  part: SnapshotPart,
): Promise<Result<LeaseTerm, never>> {
  const { tx, sql } = writing
  // The caller checks the next lines of the snapshot during this transaction.
  await sql.allowIdling(tx)
  const { slot, outputs, accounts, tips, progress } = part
  const reached = slot + part.parameters.minCommittableAge
  await insertFormerOutputs(writing, outputs, reached)
  await addBalances(writing, outputs, { slot, reached })
  await addChainStates(writing, outputs)
  const counts = Map.groupBy(outputs, ({ output }) => output.type)
  const rows = [...counts].map(([kind, some]) => ({ kind, outputs: some.length }))
  if (rows.length > 0) await sql.add(tx, table.outputCounts, rows)
  const entries = accounts.map(({ accountId, entry }) => {
    return { accountId, slot, entry: accountEntryBytes(entry) }
  })
  await inSmallChunks(entries, (some) => sql.insert(tx, accountEntries, some))
  await inSmallChunks(tips, (some) => sql.insert(tx, table.prunedTips, some))
  await sql.put(tx, snapshotProgress, [{ id: 1, ...progress }])
  return ok({ term })
}

async function addBalances(
  writing: RawWriting,
  outputs: readonly SnapshotOutput[],
  { slot, reached }: { readonly slot: SlotIndex; readonly reached: SlotIndex },
): Promise<void> {
  const moves = outputs.map(({ output }): BalanceMove => {
    return { slot, sign: 1, holding: holdingAt(output, reached), cause: 'LEDGER' }
  })
  const tokens = await tokensBefore(writing, tokensOf(moves))
  const moved = await applyMoves({ balances: new Map(), tokens }, moves)
  await addBaseTokens(writing, moved.balances)
  await writeNativeTokens(writing, moved.tokens)
}

async function addChainStates(
  { tx, sql }: RawWriting,
  outputs: readonly SnapshotOutput[],
): Promise<void> {
  const states = outputs.flatMap(({ outputId, output, bookedSlot, chainOrdinal }) => {
    const chain = chainOf(outputId, output)
    if (chain === undefined) return []
    const ordinal = present(chainOrdinal, 'the ordinal of a chain')
    return [{ ...chain, ordinal, bookedSlot, outputId }]
  })
  await inSmallChunks(states, (some) => sql.insert(tx, table.chainStates, some))
}

/** Begins the log. The caller holds the lease. Deletes the account entries, because no later slot changes them. */
export async function finishSnapshot(
  writing: Writing,
  { network, milestones }: SnapshotEnd,
): Promise<Result<LogTip, never>> {
  const { tx, sql } = writing
  const { slot } = present(milestones.at(-1), 'the milestone of the snapshot')
  await sql.allowIdling(tx)
  await tx.network.create({
    data: {
      id: 1n,
      logId: hexToBytes(network.logId),
      parameters: Uint8Array.from(network.parameters),
    },
  })
  await inChunks(milestones, (some) => sql.insert(tx, table.commitments, some))
  await countBalances(writing, slot)
  await tx.accountVersion.deleteMany()
  await tx.snapshotProgress.deleteMany()
  await closeSlots(writing, slot)
  await sql.gatherStatistics(tx)
  return ok(await publishFirst(writing))
}

/** Derives the balance ranges and the expiration transfers from the balances. */
async function countBalances({ tx, sql }: RawWriting, slot: SlotIndex): Promise<void> {
  // If an earlier version of this program began the import, it has counted ranges part by part.
  await tx.$executeRawUnsafe('DELETE FROM balance_ranges')
  const [ranges, transfers] = [sql.numbered(rangesOfPage), sql.numbered(expirationsOfPage)]
  for (let after = new Uint8Array(), isLast = false; !isLast; ) {
    const [page] = await tx.$queryRawUnsafe<{ readonly last: Uint8Array }[]>(
      sql.numbered(lastOfPage),
      after,
      after,
    )
    isLast = page === undefined
    const last = page?.last ?? behindAddresses
    await tx.$executeRawUnsafe(ranges, after, last)
    await passTurn()
    await tx.$executeRawUnsafe(transfers, BigInt(slot), after, last, BigInt(slot), after, last)
    await passTurn()
    after = Uint8Array.from(last)
  }
}

/** Addresses per page. They take some milliseconds. */
const addressesPerPage = 2_000

/** An upper bound of all addresses. */
const behindAddresses = new Uint8Array(128).fill(255)

/**
 * Selects the last address of the next page of current and former owners; no row for the last page. PostgreSQL before version 18 has no
 * `max` of bytes.
 */
const lastOfPage = `SELECT address AS last FROM (
    SELECT address FROM (SELECT address FROM balances WHERE address > ? ORDER BY address LIMIT ${addressesPerPage}) AS owning
    UNION
    SELECT address FROM (SELECT address FROM pruned_tips WHERE address > ? ORDER BY address LIMIT ${addressesPerPage}) AS tips
  ) AS known ORDER BY address LIMIT 1 OFFSET ${addressesPerPage - 1}`

const rangesOfPage = `INSERT INTO balance_ranges (exponent, addresses, total)
  SELECT length(CAST(total AS TEXT)) - 1, count(*), CAST(sum(total) AS BIGINT) FROM balances
    WHERE total > 0 AND address > ? AND address <= ? GROUP BY 1
  ON CONFLICT (exponent) DO UPDATE SET addresses = balance_ranges.addresses + excluded.addresses,
    total = balance_ranges.total + excluded.total`

/** Inserts the transfers by expirations after the newest log row of an address, because that row does not include them. */
const expirationsOfPage = `INSERT INTO expiration_transfers (address, slot, total)
  SELECT balances.address, CAST(? AS BIGINT), balances.total FROM balances
    LEFT JOIN pruned_tips AS tip ON tip.address = balances.address AND tip.class = 0
    WHERE balances.address > ? AND balances.address <= ?
      AND (tip.balance IS NULL OR tip.balance <> balances.total)
  UNION ALL
  SELECT tip.address, CAST(? AS BIGINT), 0 FROM pruned_tips AS tip
    LEFT JOIN balances ON balances.address = tip.address
    WHERE tip.address > ? AND tip.address <= ?
      AND tip.class = 0 AND tip.balance <> 0 AND balances.address IS NULL`

/** Removes the parts of an unfinished snapshot. The caller holds the lease. */
export async function dropSnapshot(
  { tx }: RawWriting,
  term: number,
): Promise<Result<LeaseTerm, never>> {
  for (const name of partTables) await tx.$executeRawUnsafe(`DELETE FROM ${name}`)
  return ok({ term })
}

const partTables = [
  'outputs',
  'unspent_outputs',
  'index_keys',
  'due_outputs',
  'balances',
  'token_balances',
  'balance_ranges',
  'output_counts',
  'chain_states',
  'account_versions',
  'pruned_tips',
  'snapshot_progress',
]
