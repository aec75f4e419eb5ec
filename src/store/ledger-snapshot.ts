import { applyMoves, type BalanceMove } from '../ledger/balances-of-address.ts'
import { chainOf } from '../ledger/chain-states.ts'
import { holdingAt } from '../ledger/holdings.ts'
import { present } from '../lib/assert.ts'
import { grouped } from '../lib/grouped.ts'
import { hexToBytes } from '../lib/hex.ts'
import { ok, type Result } from '../lib/result.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import { balancesBefore, writeBalances } from './balance-rows.ts'
import type { LeaseTerm } from './contract.ts'
import { inChunks } from './in-chunks.ts'
import { closeSlots } from './inbox.ts'
import type { SnapshotEnd, SnapshotOutput, SnapshotPart } from './ledger-snapshot-contract.ts'
import { insertFormerOutputs, type LiveOutput } from './output-index.ts'
import type { LogTip } from './rows.ts'
import * as table from './sql/bulk-tables.ts'
import { snapshotProgress } from './sql/ledger-snapshot-tables.ts'
import { logTipWithin } from './sql/log-tip.ts'
import type { RawWriting, Writing } from './sql/statements.ts'
import { writeState } from './state.ts'

/**
 * A database that begins with the snapshot of a ledger: its tables are as if the log had been pruned up to the end of the slot.
 * The network is written last: without it the database is not in use.
 */

/** Adds a part; the caller holds the lease. */
export async function addToSnapshot(
  writing: Writing,
  term: number,
  part: SnapshotPart,
): Promise<Result<LeaseTerm, never>> {
  const { tx, sql } = writing
  const { slot, outputs, accounts, tips, progress } = part
  const reached = slot + part.parameters.minCommittableAge
  const live = await insertFormerOutputs(writing, outputs, reached)
  await addBalances(writing, live, { slot, reached })
  await addChainStates(writing, live, outputs)
  const counts = grouped(live, ({ output }) => output.type)
  const rows = [...counts].map(([kind, some]) => ({ kind, outputs: some.length }))
  if (rows.length > 0) await sql.add(tx, table.outputCounts, rows)
  await writeState(tx, { accounts: accounts.map((one) => ({ ...one, slot })), epochs: [] })
  await inChunks(tips, (some) => sql.insert(tx, table.prunedTips, some))
  await sql.put(tx, snapshotProgress, [{ id: 1, ...progress }])
  return ok({ term })
}

async function addBalances(
  writing: Writing,
  live: readonly LiveOutput[],
  { slot, reached }: { readonly slot: SlotIndex; readonly reached: SlotIndex },
): Promise<void> {
  const moves = live.map(({ output }): BalanceMove => {
    return { slot, sign: 1, holding: holdingAt(output, reached), cause: 'LEDGER' }
  })
  const before = await balancesBefore(writing, moves)
  await writeBalances(writing, before, applyMoves(before, moves))
}

async function addChainStates(
  { tx, sql }: Writing,
  live: readonly LiveOutput[],
  outputs: readonly SnapshotOutput[],
): Promise<void> {
  const states = live.flatMap(({ outputId, output, bookedSlot }, i) => {
    const chain = chainOf(outputId, output)
    if (chain === undefined) return []
    const ordinal = present(outputs[i]?.chainOrdinal, 'the ordinal of a chain')
    return [{ ...chain, ordinal, bookedSlot, outputId }]
  })
  await inChunks(states, (some) => sql.insert(tx, table.chainStates, some))
}

/** Begins the log; the caller holds the lease. What no later slot changes is forgotten: the entries of accounts. */
export async function finishSnapshot(
  writing: Writing,
  term: number,
  { network, milestones }: SnapshotEnd,
): Promise<Result<LogTip, never>> {
  const { tx, sql } = writing
  const { slot } = present(milestones.at(-1), 'the milestone of the snapshot')
  await tx.network.create({
    data: {
      id: 1n,
      logId: hexToBytes(network.logId),
      parameters: Uint8Array.from(network.parameters),
    },
  })
  await inChunks(milestones, (some) => sql.insert(tx, table.commitments, some))
  await tx.$executeRawUnsafe(sql.numbered(expirations), BigInt(slot), BigInt(slot))
  await tx.accountVersion.deleteMany()
  await tx.snapshotProgress.deleteMany()
  await closeSlots(writing, term, slot)
  return ok(await logTipWithin(writing))
}

/** What expirations have moved since the newest row of an address is not in that row. */
const expirations = `INSERT INTO expiration_transfers (address, slot, total)
  SELECT balances.address, CAST(? AS BIGINT), balances.total FROM balances
    LEFT JOIN pruned_tips AS tip ON tip.address = balances.address AND tip.class = 0
    WHERE tip.balance IS NULL OR tip.balance <> balances.total
  UNION ALL
  SELECT tip.address, CAST(? AS BIGINT), 0 FROM pruned_tips AS tip
    LEFT JOIN balances ON balances.address = tip.address
    WHERE tip.class = 0 AND tip.balance <> 0 AND balances.address IS NULL`

/** Removes what is here of a snapshot; the caller holds the lease. */
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
