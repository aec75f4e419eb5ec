#!/usr/bin/env node
import cluster from 'node:cluster'
import { cutShort, failed, type StopSignal } from './cli/command.ts'
import { commandOf } from './cli/commands.ts'
import { boundHeap } from './heap.ts'
import { systemClock } from './lib/clock.ts'

/** The entry of the process: finds the command, and turns signals into an orderly end. */

/** More than the longest delay and the longest drain together. */
const longestEndMs = 150_000

const [name, ...words] = process.argv.slice(2)
if (name === 'serve') boundHeap(process.env)
const stopped = new Promise<StopSignal>((resolve) => {
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // A second signal ends the process at once. One of several behind a port is sent each twice, by the terminal or the
      // supervisor and by the first process, and ends with that one.
      if (stopping && cluster.isPrimary) process.exit(cutShort)
      stopping = true
      resolve(signal)
      // The orderly end has its own time limits; this is the last resort.
      setTimeout(() => process.exit(failed), longestEndMs).unref()
    })
  }
})
// The reader of the output may stop early, as `head` does.
process.stdout.on('error', () => process.exit(failed))
const surroundings = {
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
  // Some terminals say that they have no columns.
  progressColumns: process.stderr.isTTY ? process.stderr.columns || 80 : undefined,
  stdout: (text: string) => void process.stdout.write(text),
  stderr: (text: string) => void process.stderr.write(text),
  stopped,
  onClockConfirmed: (act: () => void) => void process.on('SIGUSR2', act),
}
const run = await commandOf(name)
process.exitCode = await run(surroundings, words)
// One of several behind a port: what ties it to the first process keeps it alive.
cluster.worker?.disconnect()
