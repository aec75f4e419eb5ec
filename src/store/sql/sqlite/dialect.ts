import { type BulkColumn, type Dialect, namesOf } from '../bulk.ts'

/** SQL of SQLite for bulk statements. The parameter is a JSON list of lists, or a list of values if there is one column. */
export const dialect: Dialect = {
  json(columns, rows) {
    return JSON.stringify(columns.length === 1 ? rows.map(([value]) => value) : rows)
  },

  given(columns) {
    const one = columns.length === 1
    const read = columns.map((column, i) => readFrom(one ? 'value' : `value ->> ${i}`, column))
    return `(SELECT ${read.join(', ')} FROM json_each(?)) AS given`
  },

  value: (column) => converted('?', column),

  matching({ columns }) {
    const names = namesOf(columns)
    const left = columns.length === 1 ? names : `(${names})`
    return ` WHERE ${left} IN (SELECT ${names} FROM ${dialect.given(columns)})`
  },

  hex: (bytes) => `'0x' || lower(hex(${bytes}))`,

  ofAddress: ({ address, class: updateClass, from, to }) =>
    [`address = ${address} AND class = ${updateClass}`, from && `seq ${from}`, to && `seq ${to}`]
      .filter((part) => part !== undefined)
      .join(' AND '),

  byPosition: (direction) => `seq ${direction}`,

  // Takes under a millisecond in memory, and about 30 ms if the outputs come from the disk.
  maxScannedRows: 500,

  slice: (from, length) => `substr(?2, ${from}, ${length})`,
}

function readFrom(value: string, column: BulkColumn): string {
  return `${converted(value, column)} AS "${column.name}"`
}

function converted(value: string, { type }: BulkColumn): string {
  if (type === 'bytes') return `unhex(${value})`
  return type === 'amount' ? `CAST(${value} AS INTEGER)` : value
}
