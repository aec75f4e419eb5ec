import { assert, present } from '../lib/assert.ts'
import { ok, type Result } from '../lib/result.ts'
import { countSlots } from './activity.ts'
import { appendToLog } from './append.ts'
import { moveBalances } from './balances.ts'
import type { Tx } from './client.ts'
import type { SlotCommit } from './contract.ts'
import { toMilestone } from './mapping.ts'
import { parametersIn } from './output-index.ts'
import type { LogTip } from './rows.ts'
import { logTipWithin } from './sql/log-tip.ts'
import type { Writing } from './sql/statements.ts'
import { writeState } from './state.ts'

/** Appends slots to the log and makes final what they hold; the caller holds the lease. */
export async function commitSlots(
  writing: Writing,
  commits: readonly SlotCommit[],
): Promise<Result<LogTip, never>> {
  const { tx } = writing
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
  const moved = await moveBalances(writing, parameters, { after: former.slot, upTo: slot })
  const moves = await appendToLog(writing, { lastSeq: former.lastSeq, commits, ...moved })
  await countSlots(writing, parameters, { moves, isGenesis: false, ...moved })
  await writeState(tx, {
    accounts: commits.flatMap(({ accounts }) => accounts),
    epochs: commits.flatMap(({ epochs }) => epochs),
  })
  await makeFinal(tx, former.slot, slot)
  return ok(await logTipWithin(writing))
}

/** Nothing can join these slots any more, and nothing in them waits. */
async function assertBooked(tx: Tx, upTo: number): Promise<void> {
  const writer = present(await tx.writer.findUnique({ where: { id: 1n } }), 'writer row')
  assert(writer.openFrom > BigInt(upTo), `slot ${upTo} is closed`)
  const waiting = { state: 'PENDING', slot: { lte: BigInt(upTo) } }
  const count = await tx.block.count({ where: waiting })
  assert(count === 0, `${count} blocks up to slot ${upTo} are booked`)
}

async function makeFinal(tx: Tx, after: number, upTo: number): Promise<void> {
  const where = { slot: { gt: BigInt(after), lte: BigInt(upTo) }, state: 'ACCEPTED' }
  await tx.block.updateMany({ where, data: { state: 'FINALIZED' } })
  await tx.transaction.updateMany({ where, data: { state: 'FINALIZED' } })
}
