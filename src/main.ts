#!/usr/bin/env node
import cluster from 'node:cluster'
import { failed, forcedStop, type StopSignal } from './cli/command.ts'
import { commandOf } from './cli/commands.ts'
import { boundHeap } from './heap.ts'
import { systemClock } from './lib/clock.ts'

/** Entry point of the process: runs the command, and turns signals into an orderly shutdown. */

/** Milliseconds until a stopping process exits in any case: more than the maximum drain delay and drain time together. */
const maxShutdownMs = 150_000

/** Size of the messages that wait for the reader of standard error; further ones are lost. */
const maxUnreadBytes = 1_000_000

/** Milliseconds in which the reader of the log may read its end. */
const maxFlushMs = 1_000

const [name, ...words] = process.argv.slice(2)
if (name === 'serve') boundHeap(process.env)
const stopped = new Promise<StopSignal>((resolve) => {
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const isHangUp = signal === 'SIGHUP'
      // A second signal ends the process at once. A worker process receives every signal twice, from the terminal or the
      // supervisor and from the first process; it ends together with the first process. A terminal that closes may send several.
      if (stopping && cluster.isPrimary && !isHangUp) process.exit(forcedStop)
      stopping = true
      resolve(isHangUp ? 'SIGINT' : signal)
      // The orderly shutdown has its own timeouts; this is the last resort.
      setTimeout(() => process.exit(failed), maxShutdownMs).unref()
    })
  }
})
// A log that cannot be written, because its disk is full or its reader has ended, must not end the gateway.
process.stderr.on('error', () => {})
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A gateway prints only its URLs.
  if (name === 'serve') return
  // The reader of standard output may close it early, as `head` does.
  if (code !== 'EPIPE') process.stderr.write(`ledger-gateway ${name}: ${message}\n`)
  process.exit(failed)
})
const io = {
  env: process.env,
  clock: systemClock,
  stdin: {
    [Symbol.asyncIterator]: () => {
      // An open input would keep the process alive.
      void stopped.then(() => process.stdin.destroy())
      return process.stdin[Symbol.asyncIterator]()
    },
  },
  isTerminal: process.stdout.isTTY === true,
  // Some terminals report zero columns.
  progressColumns: process.stderr.isTTY ? process.stderr.columns || 80 : undefined,
  stdout: (text: string) => void process.stdout.write(text),
  stderr: (text: string) => {
    // A reader of the log that has stopped must not fill the memory.
    if (process.stderr.writableLength < maxUnreadBytes) process.stderr.write(text)
  },
  stopped,
  onClockConfirmed: (act: () => void) => void process.on('SIGUSR2', act),
}
const run = await commandOf(name)
process.exitCode = await run(io, words)
// Unread lines of the log would keep the process alive.
if (name === 'serve') setTimeout(() => process.exit(), maxFlushMs).unref()
// The channel to the first process would keep a worker process alive.
cluster.worker?.disconnect()
