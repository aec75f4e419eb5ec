import type { BulkColumn, ColumnType, Dialect, JsonValue } from '../bulk.ts'

/**
 * SQL of PostgreSQL for bulk statements. The parameter is a JSON list of objects, or an array of values if there is one column. The
 * planner expects few rows of an array and finds them by index. Of a list it expects a hundred rows, for which it may scan a table.
 */
export const dialect: Dialect = {
  json(columns, rows) {
    const [only, ...others] = columns
    if (only !== undefined && others.length === 0)
      return `{${rows.map(([value]) => element(textOf(only, value))).join(',')}}`
    return JSON.stringify(
      rows.map((values) =>
        Object.fromEntries(columns.map((column, i) => [column.name, textOf(column, values[i])])),
      ),
    )
  },

  // A subquery hides the length of the array: a plan for one row looks cheaper than the plan for any array, which is then never kept.
  given(columns) {
    const [only, ...others] = columns
    if (only !== undefined && others.length === 0)
      return `unnest((SELECT $1::${types[only.type]}[])) AS given ("${only.name}")`
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
   * With row values, the planner can only use the index on address and class. With equality conditions, it may also scan the log by
   * position and filter: a prepared statement is planned without its values, so if one address has most of the log, it scans the whole
   * log for an address with few rows (300,000 rows: 70 ms instead of 0.03 ms).
   */
  ofAddress: ({
    address,
    class: updateClass,
    from = '>= 0',
    to = `<= ${Number.MAX_SAFE_INTEGER}`,
  }) =>
    [from, to]
      .map((bound) => {
        const [operator, ...value] = bound.split(' ')
        return `(address, class, seq) ${operator} (${address}, ${updateClass}, ${value.join(' ')})`
      })
      .join(' AND '),

  byPosition: (direction) => `address ${direction}, class ${direction}, seq ${direction}`,

  maxScannedRows: 5_000,

  slice: (from, length) => `substring($2::bytea FROM ${from} FOR ${length})`,
}

/** PostgreSQL parses bytes from `\x` and hexadecimal digits. */
function textOf({ type }: BulkColumn, value: JsonValue | undefined): JsonValue | undefined {
  return type === 'bytes' && value !== null ? `\\x${value}` : value
}

/** Formats a value of an array. Every value is quoted as text. */
function element(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return 'NULL'
  return `"${String(value).replaceAll(/["\\]/g, '\\$&')}"`
}

const types: { readonly [T in ColumnType]: string } = {
  bytes: 'bytea',
  int: 'int',
  long: 'bigint',
  amount: 'bigint',
  text: 'text',
  boolean: 'boolean',
}
