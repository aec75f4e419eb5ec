import { createRequire } from 'node:module'
import { StatementSync } from 'node:sqlite'

/** Counts the statements that the database drivers of a server run, and prints the count on SIGUSR2. Loaded first, by `--import`. */

let count = 0

function counted(prototype, name) {
  const plain = prototype[name]
  prototype[name] = function (...words) {
    count++
    return plain.apply(this, words)
  }
}

for (const name of ['all', 'get', 'run', 'iterate']) counted(StatementSync.prototype, name)
// Counts at the connection, because one message may contain several statements: `execute` for prepared ones, `query` for others.
const { Client, Connection } = createRequire(`${process.cwd()}/`)('pg')
for (const name of ['execute', 'query']) counted(Connection.prototype, name)

/** Counts the statements of the gateway's batches too, whose messages bypass these methods. */
const { query } = Client.prototype
Client.prototype.query = function (batch, ...words) {
  const { submit } = batch ?? {}
  if (typeof submit === 'function') {
    batch.submit = (connection) => {
      const { stream } = connection
      const { write } = stream
      stream.write = (bytes) => {
        count += executionsIn(bytes)
        return write.call(stream, bytes)
      }
      submit.call(batch, connection)
      stream.write = write
    }
  }
  return query.call(this, batch, ...words)
}

function executionsIn(bytes) {
  let found = 0
  for (let at = 0; at < bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
    if (bytes[at] === 'E'.charCodeAt(0)) found++
  }
  return found
}

process.on('SIGUSR2', () => process.stderr.write(`statements ${count}\n`))
