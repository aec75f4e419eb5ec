import { openTables, type TableRow, type Tables } from './tables.ts'

/** Copies of the rows that retention deletes, so that the model can book blocks again that the database no longer has. */
export interface Archive {
  /** Copies the rows of this moment. Every row must be copied before it is deleted. */
  copy(): Promise<void>
  /** The tables with the deleted rows. */
  over(tables: Tables): Tables
}

const keyOf: Readonly<Record<string, (row: TableRow) => string>> = {
  blocks: (row) => row.text('inbox'),
  block_parents: (row) => `${row.hex('parent')} ${row.text('inbox')}`,
  ledger_updates: (row) => row.text('seq'),
}

/** Starts without copies. */
export function createArchive(url: string): Archive {
  const copies = new Map<string, Map<string, TableRow>>()

  async function copy(): Promise<void> {
    const tables = await openTables(url)
    for (const [table, key] of Object.entries(keyOf)) {
      const rows = copies.get(table) ?? new Map<string, TableRow>()
      copies.set(table, rows)
      for (const row of await tables.rows(table)) rows.set(key(row), row)
    }
    await tables.close()
  }

  function over(tables: Tables): Tables {
    return {
      ...tables,
      rows: async (table, ...order) => {
        const rows = await tables.rows(table, ...order)
        const key = keyOf[table]
        if (key === undefined) return rows
        const kept = new Set(rows.map(key))
        const deleted = [...(copies.get(table) ?? [])].filter(([one]) => !kept.has(one))
        const [column] = order
        const all = [...deleted.map(([, row]) => finalized(row)), ...rows]
        return column === undefined ? all : all.sort((a, b) => a.number(column) - b.number(column))
      },
    }
  }

  return { copy, over }
}

/** Only final blocks are deleted. The copy may be older than that. */
function finalized(row: TableRow): TableRow {
  return { ...row, text: (column) => (column === 'state' ? 'FINALIZED' : row.text(column)) }
}
