import { createRequire } from 'node:module'
import { StatementSync } from 'node:sqlite'

/** Loaded into a server before all else (`--import`): counts the statements that its drivers run, and tells on SIGUSR2. */

let count = 0

function counted(prototype, name) {
  const plain = prototype[name]
  prototype[name] = function (...words) {
    count++
    return plain.apply(this, words)
  }
}

for (const name of ['all', 'get', 'run', 'iterate']) counted(StatementSync.prototype, name)
// One message may have several statements; what is no prepared one is sent as it is.
const { Connection } = createRequire(`${process.cwd()}/`)('pg')
for (const name of ['execute', 'query']) counted(Connection.prototype, name)
process.on('SIGUSR2', () => process.stderr.write(`statements ${count}\n`))
