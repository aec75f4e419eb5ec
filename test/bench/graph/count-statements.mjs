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
counted(createRequire(`${process.cwd()}/`)('pg').Client.prototype, 'query')
process.on('SIGUSR2', () => process.stderr.write(`statements ${count}\n`))
