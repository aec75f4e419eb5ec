import type { ColumnType, Dialect } from '../bulk.ts'

/** Bulk statements on PostgreSQL: the parameter is a list of objects; it reads bytes from `\x` and digits. */
export const dialect: Dialect = {
  json(columns, rows) {
    return JSON.stringify(
      rows.map((values) => {
        const row: Record<string, unknown> = {}
        for (const [i, { name, type }] of columns.entries()) {
          const value = values[i]
          row[name] = type === 'bytes' && value !== null ? `\\x${value}` : value
        }
        return row
      }),
    )
  },

  given(columns) {
    const typed = columns.map(({ name, type }) => `"${name}" ${types[type]}`)
    return `jsonb_to_recordset($1::jsonb) AS given (${typed.join(', ')})`
  },

  matching({ name, columns }, list) {
    const same = columns.map((column) => `${name}."${column.name}" = given."${column.name}"`)
    const [separator, given] = [list === ',' ? ', ' : ' USING ', dialect.given(columns)]
    return `${separator}${given} WHERE ${same.join(' AND ')}`
  },

  hex: (bytes) => `'0x' || encode(${bytes}, 'hex')`,

  /*
   * Rows of values leave the planner this one index. With equal values it also goes along the log by position and drops what is of
   * others: a statement that is kept is planned without its values, so where one address has most of the log it reads
   * all of it for an address with few rows (300,000 rows: 70 ms in place of 0.03).
   */
  ofAddress: ({ address, class: its, from = '>= 0', to = `<= ${Number.MAX_SAFE_INTEGER}` }) =>
    [from, to]
      .map((bound) => {
        const [operator, ...value] = bound.split(' ')
        return `(address, class, seq) ${operator} (${address}, ${its}, ${value.join(' ')})`
      })
      .join(' AND '),

  byPosition: (direction) => `address ${direction}, class ${direction}, seq ${direction}`,

  slice: (from, length) => `substring($2::bytea FROM ${from} FOR ${length})`,
}

const types: { readonly [T in ColumnType]: string } = {
  bytes: 'bytea',
  int: 'int',
  long: 'bigint',
  amount: 'bigint',
  text: 'text',
  boolean: 'boolean',
}
