import { DriverAdapterError, type MappedError } from '@prisma/driver-adapter-utils'
import { resultCodeName } from '../sql/sqlite/result-codes.ts'

/** Converts failures of Node's SQLite driver to Prisma's errors. */

/** Converts a failure to an error of Prisma's adapters. A failure that SQLite did not cause is returned unchanged. */
export function adapterErrorOf(failure: unknown): unknown {
  if (!(failure instanceof Error) || !('errcode' in failure)) return failure
  const { errcode, message } = failure
  if (typeof errcode !== 'number') return failure
  const originalCode = resultCodeName(errcode)
  const mapped = mappedErrorOf(originalCode, message) ?? {
    kind: 'sqlite',
    extendedCode: errcode,
    message,
  }
  return new DriverAdapterError({ ...mapped, originalCode, originalMessage: message })
}

/** Converts the failures for which Prisma has a code: P1008, P2002, P2003, P2011, P2021, P2022. */
function mappedErrorOf(code: string, message: string): MappedError | undefined {
  switch (code) {
    case 'SQLITE_CONSTRAINT_UNIQUE':
    case 'SQLITE_CONSTRAINT_PRIMARYKEY': {
      const columns = columnsNamed(message)
      const [table] = columns[0]?.split('.') ?? []
      const constraint = { fields: columns.map(withoutTable) }
      return { kind: 'UniqueConstraintViolation', constraint, ...(table && { table }) }
    }
    case 'SQLITE_CONSTRAINT_NOTNULL': {
      const constraint = { fields: columnsNamed(message).map(withoutTable) }
      return { kind: 'NullConstraintViolation', constraint }
    }
    case 'SQLITE_CONSTRAINT_FOREIGNKEY':
    case 'SQLITE_CONSTRAINT_TRIGGER':
      return { kind: 'ForeignKeyConstraintViolation', constraint: { foreignKey: {} } }
    case 'SQLITE_ERROR':
      return nameNotFound(message)
    default:
      return code.startsWith('SQLITE_BUSY') ? { kind: 'SocketTimeout' } : undefined
  }
}

/** Parses the columns of a message such as `… constraint failed: table.column, table.column`. */
function columnsNamed(message: string): readonly string[] {
  return message.split('constraint failed: ')[1]?.split(', ') ?? []
}

const withoutTable = (column: string) => column.slice(column.indexOf('.') + 1)

/** Returns the missing table or column of a statement, which SQLite names only in the message. */
function nameNotFound(message: string): MappedError | undefined {
  const [, table] = /^no such table: (.*)$/.exec(message) ?? []
  if (table !== undefined) return { kind: 'TableDoesNotExist', table }
  const [, column] = /(?:^no such column: |has no column named )(.*)$/.exec(message) ?? []
  return column === undefined ? undefined : { kind: 'ColumnNotFound', column }
}
