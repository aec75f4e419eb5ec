import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'

/** Bounds on the memory that V8 and the C library keep for reuse, and on the threads that collect it. */

/**
 * Bounds the heap of this process; a bound that the operator has set stays. V8 and the C library read three of the bounds only
 * when a process starts, so the process replaces itself (`execve`) with one that has them: same process id, same standard
 * streams. Where that is not possible, as on Windows, those three are left out.
 */
export function boundHeap(env: NodeJS.ProcessEnv): void {
  const given = [...process.execArgv, ...(env.NODE_OPTIONS ?? '').split(' ')].map(flagOf)
  if (!given.includes(flagOf(youngBound)) && canReplace()) {
    replace(env, given.includes(flagOf(threadBound)) ? [youngBound] : [youngBound, threadBound])
  }
  // Not on the command line: a Node whose V8 no longer has one of these flags would refuse to start.
  for (const flag of [oldBound, youngFirst]) {
    if (!given.includes(flagOf(flag))) setFlagsFromString(flag)
  }
}

/** Two halves of 16 MiB for young objects, as up to Node 22. From 24 on each may grow to 64, and a busy gateway fills both. */
const youngBound = '--max-semi-space-size=16'

/**
 * Threads of V8, which collect garbage and compile: as many as processors without that of the event loop, and no more than Node's four.
 * On two processors four of them hold up the event loop (decision 022).
 */
const threadBound = `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`

/** V8 collects old objects when there is a quarter more than was in use; by default only when there are up to three times as many. */
const oldBound = '--heap-growing-percent=25'

/**
 * All objects begin as young ones. V8 otherwise makes them old from the start where those that one line of code made before have lived long: the
 * rows that a gateway reads into memory at its start are made by the same line as those of each request (decision 022).
 */
const youngFirst = '--no-allocation-site-pretenuring'

/** V8 accepts dashes and underscores alike. */
function flagOf(word: string): string {
  return (word.split('=')[0] ?? '').replaceAll('_', '-')
}

/** A channel to a parent process would be lost. */
function canReplace(): boolean {
  return process.execve !== undefined && process.channel === undefined
}

function replace(env: NodeJS.ProcessEnv, bounds: readonly string[]): void {
  const words = [...process.execArgv, ...bounds, ...process.argv.slice(1)]
  // glibc keeps freed memory in up to eight arenas for each processor.
  const bounded = { MALLOC_ARENA_MAX: '2', ...env }
  try {
    process.execve?.(process.execPath, [process.execPath, ...words], bounded)
  } catch {
    // Not on this system, or Node's permission model forbids it: the gateway works, with more memory.
  }
}
