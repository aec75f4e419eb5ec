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

/** Writes the rows of an export into the tables of a database. */

/** Header of the export and tables of the database. */
export interface ImportTarget {
  readonly header: ExportHeader
  readonly sql: TableStatements
  /** Tables by name, with their columns in the order of the export. */
  readonly tables: ReadonlyMap<string, Table>
  /** Number of rows in the whole export. */
  readonly ofRows: number
}

/** The database cannot accept rows. */
export type RowsRefused = LogBroken | RowsMisfit

/** The header does not list the table of the rows, or values do not fit the kinds of its columns. */
export interface RowsMisfit {
  readonly code: 'ROWS_MISFIT'
  readonly table: string
}

/** Parses the header line of an export. The database must have exactly the tables of the export. */
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

/** Returns the table with its columns in the order of the export, or nothing if the columns differ. */
function inOrderOf({ columns: names }: ExportedTable, table: Table): Table[] {
  const columns = names.flatMap((name) => table.columns.filter((column) => column.name === name))
  const isSame = columns.length === names.length && columns.length === table.columns.length
  return isSame && new Set(names).size === names.length ? [{ ...table, columns }] : []
}

/** Writes the rows of one line. Rows of the log are written only if they continue it. */
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
      await importInboxState(writing, table, rows)
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

/** Imports the first open slot and the next inbox place of the writer. The lease stays that of this process. */
async function importInboxState(
  { tx }: Writing,
  table: Table,
  rows: readonly Row[],
): Promise<void> {
  const numberIn = (row: Row, name: string) => BigInt(String(row[columnOf(table, name)]))
  for (const row of rows) {
    const data = { openFrom: numberIn(row, 'openFrom'), nextInbox: numberIn(row, 'nextInbox') }
    await tx.writer.updateMany({ where: { id: 1n }, data })
  }
}

/** Whether the database has every row that the header announces. */
export async function isComplete(database: Database, target: ImportTarget): Promise<boolean> {
  const { header, tables } = target
  const connection = await database.connect()
  await database.tables.beginSnapshot(connection)
  try {
    for (const { name, rows } of header.tables) {
      const table = present(tables.get(name), `table ${name}`)
      // The writer's row is that of the lease of this process.
      if (name !== 'writer' && (await countRows(connection, table)) !== rows) return false
    }
    const { seq, prunedSeq } = await logBounds(connection)
    return seq === header.seq && prunedSeq === header.prunedSeq
  } finally {
    await database.tables.endSnapshot(connection)
    await connection.dispose()
  }
}
