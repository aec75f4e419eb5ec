import { present } from '../../lib/assert.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { Database } from '../database.ts'
import { tableNames } from '../migrate.ts'
import type { Table, TableStatements, Writing } from '../sql/statements.ts'
import { countRows, logBounds } from '../sql/tables.ts'
import {
  columnOf,
  type ExportedTable,
  type ExportHeader,
  parseHeader,
  type Row,
  type RowsLine,
  rowsFit,
} from './export-format.ts'
import { continueLog, type LogBroken } from './import-log.ts'

/** Where the rows of an export go. */

/** What is being imported, and into which tables. */
export interface ImportTarget {
  readonly header: ExportHeader
  readonly sql: TableStatements
  /** By name, the columns in the order of the export. */
  readonly tables: ReadonlyMap<string, Table>
  /** Of the whole export. */
  readonly ofRows: number
}

/** Rows that the database cannot hold. */
export type RowsRefused = LogBroken | RowsMisfit

/** A table that the export did not announce, or values of another kind than its columns. */
export interface RowsMisfit {
  readonly code: 'ROWS_MISFIT'
  readonly table: string
}

/** Reads the first line of an export, for a database that must have just these tables. */
export async function openTarget(
  database: Database,
  line: string,
): Promise<ImportTarget | 'NOT_AN_EXPORT' | 'OTHER_VERSION' | 'TABLES_DIFFER'> {
  const header = parseHeader(line)
  if (typeof header === 'string') return header
  const connection = await database.connect()
  const names = tableNames(database.migrations)
  const own = await database.tables.tables(connection, names).finally(() => connection.dispose())
  const expected = own.filter(({ name }) => name !== 'imports')
  const tables = header.tables.flatMap((exported) => {
    const table = expected.find(({ name }) => name === exported.name)
    return table === undefined ? [] : inOrderOf(exported, table)
  })
  if (tables.length !== expected.length || tables.length !== header.tables.length) {
    return 'TABLES_DIFFER'
  }
  return {
    header,
    sql: database.tables,
    tables: new Map(tables.map((table) => [table.name, table])),
    ofRows: header.tables.reduce((sum, { rows }) => sum + rows, 0),
  }
}

/** The table with its columns in the order of the export, where they are the same. */
function inOrderOf({ columns: names }: ExportedTable, table: Table): Table[] {
  const columns = names.flatMap((name) => table.columns.filter((column) => column.name === name))
  const isSame = columns.length === names.length && columns.length === table.columns.length
  return isSame && new Set(names).size === names.length ? [{ ...table, columns }] : []
}

/** Writes the rows of one line, those of the log only if they continue it. */
export async function writeRows(
  writing: Writing,
  target: ImportTarget,
  { table: name, rows }: RowsLine,
): Promise<Result<'MORE', RowsRefused>> {
  const table = target.tables.get(name)
  if (table === undefined || !rowsFit(rows, table)) return err({ code: 'ROWS_MISFIT', table: name })
  const insert = () => target.sql.insertRows(writing.tx, table, JSON.stringify(rows))
  switch (name) {
    case 'writer':
      await takeGate(writing, table, rows)
      return ok('MORE')
    case 'ledger_updates': {
      const continued = await continueLog(writing, target.header.prunedSeq, { table, rows })
      if (continued.ok) await insert()
      return continued
    }
    default:
      await insert()
      return ok('MORE')
  }
}

/** The lease is ours; of the former writer we take over which slots are open, and the places in the inbox. */
async function takeGate({ tx }: Writing, table: Table, rows: readonly Row[]): Promise<void> {
  const numberIn = (row: Row, name: string) => BigInt(String(row[columnOf(table, name)]))
  for (const row of rows) {
    const data = { openFrom: numberIn(row, 'openFrom'), nextInbox: numberIn(row, 'nextInbox') }
    await tx.writer.update({ where: { id: 1n }, data })
  }
}

/** Whether every row that the export announced is here. */
export async function isComplete(database: Database, target: ImportTarget): Promise<boolean> {
  const { header, tables } = target
  const connection = await database.connect()
  try {
    for (const { name, rows } of header.tables) {
      const table = present(tables.get(name), `table ${name}`)
      // The row of the writer is that of our lease.
      if (name !== 'writer' && (await countRows(connection, table)) !== rows) return false
    }
    const { seq, prunedSeq } = await logBounds(connection)
    return seq === header.seq && prunedSeq === header.prunedSeq
  } finally {
    await connection.dispose()
  }
}
