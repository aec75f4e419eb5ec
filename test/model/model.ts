import type { OutputId, TransactionId } from '../../src/protocol/primitives.ts'
import { compareActivity } from './activity.ts'
import { compareAdmission, type Refusal } from './admission.ts'
import type { Archive } from './archive.ts'
import { genesisOutputs, replayBookings, type Verdict } from './bookings.ts'
import type { Differences } from './differences.ts'
import { compareHoldings } from './holdings.ts'
import { type Kept, keptOf, type Retention } from './kept.ts'
import { compareLog, type LogRow, writeLog } from './log.ts'
import { type AcceptedTransaction, createSlots, type Slots } from './slots.ts'
import { type BookedOutput, readLedger, type StoredLedger } from './stored-ledger.ts'
import { openTables } from './tables.ts'

/**
 * A second, slow ledger. It takes the genesis and the blocks from a database, books and commits them again, and compares the tables
 * with what it gets. It shares the formats and the rules of single values with the program (docs/architecture.md: protocol, ledger), which
 * have vectors of other programs; but no state: what a slot, an address or a chain is follows from a scan of everything before it.
 */

/** The result of the model. */
export interface Model {
  readonly ledger: StoredLedger
  readonly outputs: readonly BookedOutput[]
  readonly outputById: ReadonlyMap<OutputId, BookedOutput>
  readonly acceptedById: ReadonlyMap<TransactionId, AcceptedTransaction>
  readonly verdicts: ReadonlyMap<TransactionId, Verdict>
  readonly slots: Slots
  /** The whole log, also the rows that were pruned. */
  readonly rows: readonly LogRow[]
  readonly kept: Kept
}

/** The options of a comparison. */
export interface ModelOptions {
  readonly differ: Differences
  readonly refusals?: readonly Refusal[]
  /** How long the gateway keeps rows and blocks; the archive has those that it deleted. */
  readonly retention?: Retention | undefined
  readonly archive?: Archive
}

/** Compares a database with the model. */
export async function compareWithModel(url: string, options: ModelOptions): Promise<Model> {
  const { differ, refusals = [], retention, archive } = options
  const opened = await openTables(url)
  const tables = archive?.over(opened) ?? opened
  try {
    const ledger = await readLedger(tables, differ)
    const outputById = new Map<OutputId, BookedOutput>()
    for (const one of await genesisOutputs(tables, ledger.parameters.genesisSlot)) {
      outputById.set(one.outputId, one)
    }
    const acceptedById = new Map<TransactionId, AcceptedTransaction>()
    const booked = { outputById, acceptedById }
    const slots = await createSlots(ledger, booked, tables, differ)
    const verdicts = await replayBookings(ledger, booked, slots, { tables, differ })
    const outputs = [...outputById.values()]
    compareAdmission(ledger, slots, refusals, differ)
    await slots.compareEpochs(tables)
    const rows = writeLog(ledger, outputs)
    await compareLog(ledger, outputs, rows, { tables, differ })
    const activity = { ledger, outputs, acceptedById, slots, verdicts, rows }
    await compareActivity(activity, tables, differ)
    await compareHoldings(ledger, outputs, tables, differ)
    const kept = keptOf(ledger, rows, retention)
    return { ledger, outputs, outputById, acceptedById, verdicts, slots, rows, kept }
  } finally {
    await tables.close()
  }
}
