import { assert, present } from '../lib/assert.ts'
import { ok, type Result } from '../lib/result.ts'
import { passTurn } from '../lib/turns.ts'
import { countSlots } from './activity.ts'
import { appendToLog } from './append.ts'
import { moveBalances } from './balances.ts'
import type { Tx } from './client.ts'
import type { SlotCommit } from './contract.ts'
import { toMilestone } from './mapping.ts'
import { parametersIn } from './output-index.ts'
import { type Appended, publishWithin } from './publish.ts'
import { rowsPerPage } from './sql/slot-outputs.ts'
import type { RawWriting, Writing } from './sql/statements.ts'
import { writeState } from './state.ts'
import type { TrieChanges } from './trie-contract.ts'
import { changeTries } from './tries.ts'

/** Appends slots to the log and makes final what they hold; the caller holds the lease. */
export async function commitSlots(
  writing: Writing,
  commits: readonly SlotCommit[],
  tries?: TrieChanges,
): Promise<Result<Appended, never>> {
  const { tx, sql } = writing
  const network = present(await tx.network.findUnique({ where: { id: 1n } }), 'network')
  const newest = await tx.commitment.findFirst({ orderBy: { slot: 'desc' } })
  const former = toMilestone(present(newest, 'genesis commitment'))
  assert(commits.length <= 1_000, 'at most 1,000 slots are committed at once')
  commits.forEach(({ slot }, i) => {
    assert(slot === former.slot + 1 + i, `slot ${slot} follows the slot before it`)
  })
  const slot = former.slot + commits.length
  await assertBooked(tx, slot)
  const parameters = parametersIn(network.parameters)
  const rows = commits.reduce((sum, { entries }) => sum + entries.length, 0)
  // Between two statements on so many rows the program may need longer than a writer is allowed to pause.
  if (rows > usualRows) await sql.allowIdling(tx)
  const moved = await moveBalances(writing, parameters, { after: former.slot, upTo: slot })
  const moves = await appendToLog(writing, { lastSeq: former.lastSeq, commits, ...moved })
  await countSlots(writing, parameters, { moves, isGenesis: false, ...moved })
  await writeState(tx, {
    accounts: commits.flatMap(({ accounts }) => accounts),
    epochs: commits.flatMap(({ epochs }) => epochs),
  })
  if (tries !== undefined) await changeTries(writing, slot, tries)
  await makeFinal(writing, former.slot, slot)
  return ok(await publishWithin(writing))
}

/** Of the log, in one transaction. */
const usualRows = 50_000

/** Nothing can join these slots any more, and nothing in them waits. */
async function assertBooked(tx: Tx, upTo: number): Promise<void> {
  const writer = present(await tx.writer.findUnique({ where: { id: 1n } }), 'writer row')
  assert(writer.openFrom > BigInt(upTo), `slot ${upTo} is closed`)
  const waiting = { state: 'PENDING', slot: { lte: BigInt(upTo) } }
  const count = await tx.block.count({ where: waiting })
  assert(count === 0, `${count} blocks up to slot ${upTo} are booked`)
}

async function makeFinal({ tx, sql }: RawWriting, after: number, upTo: number): Promise<void> {
  const range = [BigInt(after), BigInt(upTo)] as const
  for (const table of ['blocks', 'transactions']) {
    const text = sql.numbered(`UPDATE ${table} SET state = 'FINALIZED' WHERE id IN (
      SELECT id FROM ${table} WHERE state = 'ACCEPTED' AND slot > ? AND slot <= ? LIMIT ${rowsPerPage})`)
    while ((await tx.$executeRawUnsafe(text, ...range)) === rowsPerPage) await passTurn()
  }
}
