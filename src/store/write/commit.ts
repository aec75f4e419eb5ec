import type { Commitment, Writer } from '../../generated/prisma/client.ts'
import { assert, present } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import { passTurn } from '../../lib/turns.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { RawTx } from '../client.ts'
import type { TrieChanges } from '../contract/trie.ts'
import type { SlotCommit } from '../contract.ts'
import { rowsPerPage } from '../sql/slot-outputs.ts'
import type { RawWriting } from '../sql/statements.ts'
import { countSlots } from './activity.ts'
import { appendToLog } from './append.ts'
import { countDue, moveBalances } from './balances.ts'
import { networkParameters } from './network-parameters.ts'
import { type Appended, publishWithin } from './publish.ts'
import { writeState } from './state.ts'
import { changeTries } from './tries.ts'

/** Appends slots to the log, and finalizes their blocks and transactions. The caller holds the lease. */
export async function commitSlots(
  writing: RawWriting,
  commits: readonly SlotCommit[],
  tries?: TrieChanges,
): Promise<Result<Appended, never>> {
  const parameters = await networkParameters(writing.tx)
  const former = await logEndBefore(writing.tx)
  assert(commits.length <= 1_000, 'at most 1,000 slots are committed at once')
  commits.forEach(({ slot }, i) => {
    assert(slot === former.slot + 1 + i, `slot ${slot} follows the slot before it`)
  })
  const slot = former.slot + commits.length
  await assertBooked(writing, slot)
  await allowIdlingFor(writing, commits)
  let end = former
  const dueBySlot = await countDue(writing, parameters, { after: former.slot, upTo: slot })
  for (const some of groupsOf(commits, dueBySlot)) {
    end = await moveAndAppend(writing, parameters, end, some)
  }
  await writeState(writing, {
    accounts: commits.flatMap(({ accounts }) => accounts),
    epochs: commits.flatMap(({ epochs }) => epochs),
  })
  if (tries !== undefined) await changeTries(writing, slot, tries)
  await makeFinal(writing, former.slot, slot)
  return ok(await publishWithin(writing))
}

/** With many rows the program may need more time between two statements than the idle timeout of a writer allows. */
export async function allowIdlingFor(
  { tx, sql }: RawWriting,
  commits: readonly SlotCommit[],
): Promise<void> {
  const rows = commits.reduce((sum, { entries }) => sum + entries.length, 0)
  if (rows > maxTimedRows) await sql.allowIdling(tx)
}

/** Groups consecutive slots, so that a large slot is a group of its own and many small ones need few statements. */
function* groupsOf(
  commits: readonly SlotCommit[],
  dueBySlot: ReadonlyMap<SlotIndex, number>,
): Generator<readonly SlotCommit[]> {
  let group: SlotCommit[] = []
  let rows = 0
  for (const commit of commits) {
    const length = commit.entries.length + (dueBySlot.get(commit.slot) ?? 0)
    if (group.length > 0 && rows + length > rowsPerBatch) {
      yield group
      group = []
      rows = 0
    }
    group.push(commit)
    rows += length
  }
  if (group.length > 0) yield group
}

/** Log rows of a group of slots, and outputs that time alone changes. Their addresses and outputs are held in memory. */
const rowsPerBatch = 4_000

/** Moves the balances of some slots, and appends their rows. Returns the end of the log. */
async function moveAndAppend(
  writing: RawWriting,
  parameters: ProtocolParameters,
  former: LogEnd,
  commits: readonly SlotCommit[],
): Promise<LogEnd> {
  const slot = former.slot + commits.length
  const moved = await moveBalances(writing, parameters, { after: former.slot, upTo: slot })
  const moves = await appendToLog(writing, { lastSeq: former.lastSeq, commits, ...moved })
  await countSlots(writing, parameters, { moves, isGenesis: false, ...moved })
  return { slot, lastSeq: moves.reduce((seq, { updates }) => seq + updates, former.lastSeq) }
}

interface LogEnd {
  readonly slot: SlotIndex
  readonly lastSeq: number
}

/** Maximum number of log rows in a transaction that keeps the idle timeout. */
const maxTimedRows = 50_000

async function logEndBefore(tx: RawTx): Promise<LogEnd> {
  const [newest] = await tx.$queryRawUnsafe<Pick<Commitment, 'slot' | 'lastSeq'>[]>(
    'SELECT slot, "lastSeq" FROM commitments ORDER BY slot DESC LIMIT 1',
  )
  const { slot, lastSeq } = present(newest, 'genesis commitment')
  return { slot: Number(slot), lastSeq: Number(lastSeq) }
}

/** Asserts that the slots are closed, and that all their blocks are booked. */
async function assertBooked({ tx, sql }: RawWriting, upTo: number): Promise<void> {
  const [writer] = await tx.$queryRawUnsafe<Pick<Writer, 'openFrom'>[]>(
    'SELECT "openFrom" FROM writer WHERE id = 1',
  )
  assert(present(writer, 'writer row').openFrom > BigInt(upTo), `slot ${upTo} is closed`)
  const [waiting] = await tx.$queryRawUnsafe<{ readonly blocks: bigint }[]>(
    sql.numbered("SELECT count(*) AS blocks FROM blocks WHERE state = 'PENDING' AND slot + 0 <= ?"),
    BigInt(upTo),
  )
  const blocks = Number(present(waiting, 'a count').blocks)
  assert(blocks === 0, `${blocks} blocks up to slot ${upTo} are booked`)
}

async function makeFinal({ tx, sql }: RawWriting, after: number, upTo: number): Promise<void> {
  const range = [BigInt(after), BigInt(upTo)] as const
  for (const table of ['blocks', 'transactions']) {
    const text = sql.numbered(`UPDATE ${table} SET state = 'FINALIZED' WHERE id IN (
      SELECT id FROM ${table} WHERE state = 'ACCEPTED' AND slot > ? AND slot <= ? LIMIT ${rowsPerPage})`)
    while ((await tx.$executeRawUnsafe(text, ...range)) === rowsPerPage) await passTurn()
  }
}
