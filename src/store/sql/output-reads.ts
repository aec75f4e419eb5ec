import { hexToBytes, noBytes } from '../../lib/hex.ts'
import { outputCodes } from '../../protocol/outputs.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { StoreReader } from '../contract.ts'
import type { OutputRow } from '../rows.ts'
import { outputIds, outputRows, unspentSlots } from './bulk-tables.ts'
import type { Reading } from './reading.ts'

/** Reads of outputs, by id and by slot. */
export function outputReads({ row, rows, rowsFrom, keyed }: Reading) {
  const output = row(outputRows, 'WHERE id = ?')
  const many = keyed(outputRows, outputIds)
  const due = rows(
    outputRows,
    'WHERE id IN (SELECT "outputId" FROM due_outputs WHERE slot > ? AND slot <= ?)',
  )
  // The index on the booked slot begins with the kind, so the statement merges one scan for each kind.
  const createdIn = rowsFrom(
    outputRows,
    `FROM (${outputCodes.map(ofKind).join(' UNION ALL ')} ORDER BY id LIMIT ${pageLimit}) AS outputs
      ORDER BY outputs.id`,
  )
  const spentIn = rows(
    outputRows,
    `WHERE "spentSlot" = ? AND id > ? ORDER BY outputs.id LIMIT ${pageLimit}`,
  )
  // Qualified with the table: by the bare name, PostgreSQL would sort all selected texts for each page.
  const unspent = rows(
    unspentSlots,
    `WHERE "outputId" > ? ORDER BY unspent_outputs."outputId" LIMIT ${pageLimit}`,
  )

  return {
    output: (outputId) => output(hexToBytes(outputId)),
    outputs: (ids) => many(ids.map((outputId) => ({ outputId }))),
    dueOutputs: (after, upTo) => due(after, upTo),
    createdPage: async (slot, after) => pageOf(await createdIn(slot, placeOf(after))),
    spentPage: async (slot, after) => pageOf(await spentIn(slot, placeOf(after))),
    unspentPage: (after) => unspent(placeOf(after)),
  } satisfies Partial<StoreReader>
}

const placeOf = (after: OutputId | undefined) => (after === undefined ? noBytes : hexToBytes(after))

const pageOf = (rows: readonly OutputRow[]) => ({ rows, isLast: rows.length < pageLimit })

const ofKind = (kind: number) =>
  `SELECT * FROM outputs WHERE kind = ${kind} AND "bookedSlot" = ?1 AND id > ?2`

/** Rows in a page. SQLite blocks the event loop for a few milliseconds while it reads a page. */
const pageLimit = 1_000
