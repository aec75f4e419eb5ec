import { shardedDialect } from './sql/postgresql/sharded-log.ts'
import { createReading, type Reading } from './sql/reading.ts'

/**
 * Reads whose statements depend on whether the log is in shards, each by those for what it is when the read begins. Where it can be in
 * none they are the reads themselves.
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
    (...asked: readonly unknown[]) => {
      const due = logForms.settle()
      // Not later than it is asked: those that are asked together go to the server in common messages.
      return due === undefined ? read(name)?.(...asked) : due.then(() => read(name)?.(...asked))
    },
  ])
  return Object.fromEntries(chosen)
}

type Read = (...asked: readonly unknown[]) => unknown
type ReadByName = ReadonlyMap<string, Read>

function byName(reads: object): ReadByName {
  return new Map(Object.entries(reads))
}
