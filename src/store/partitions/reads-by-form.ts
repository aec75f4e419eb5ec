import { shardedDialect } from '../sql/postgresql/sharded-log.ts'
import { createReading, type Reading } from '../sql/reading.ts'

/**
 * Creates reads whose statements depend on whether the log is sharded. Each read uses the statements for the form of the log at its start.
 * If the database does not support shards, this adds nothing.
 */
export function readsByForm<R extends object>(reading: Reading, make: (reading: Reading) => R): R {
  const { logForms } = reading
  const usual = make(reading)
  if (logForms === undefined) return usual
  let sharded: ReadByName | undefined
  const read = (name: string): Read | undefined => {
    if (!logForms.form().isSharded) return ofUsual.get(name)
    sharded ??= byName(make(createReading({ ...reading, statements: { dialect: shardedDialect } })))
    return sharded.get(name)
  }
  const ofUsual = byName(usual)
  const chosen = [...ofUsual.keys()].map((name) => [
    name,
    (...args: readonly unknown[]) => {
      const due = logForms.settle()
      // Without a promise here, reads that begin together share messages to the server.
      return due === undefined ? read(name)?.(...args) : due.then(() => read(name)?.(...args))
    },
  ])
  return Object.fromEntries(chosen)
}

type Read = (...args: readonly unknown[]) => unknown
type ReadByName = ReadonlyMap<string, Read>

function byName(reads: object): ReadByName {
  return new Map(Object.entries(reads))
}
