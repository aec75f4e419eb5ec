import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'

/** Limits the memory that V8 and the C library keep for reuse, and the threads that collect garbage. */

/**
 * Limits the heap of this process. A limit that the operator has set is kept. V8 and the C library read three of the limits only
 * when a process starts, so the process replaces itself (`execve`) with a process that has them: same process id, same standard
 * streams. Where that is impossible, as on Windows, these three limits are not set.
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

/** Two semi-spaces of 32 MiB for young objects. From Node 24 on each may grow to 64, and a busy gateway fills both (decision 022). */
const youngBound = '--max-semi-space-size=32'

/**
 * Number of V8 threads, which collect garbage and compile: the number of processors minus one for the event loop, and at most
 * four, as in Node. On two processors four threads delay the event loop (decision 022).
 */
const threadBound = `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`

/** V8 collects old objects when the heap has grown by a quarter. By default it waits until the heap is up to three times as large. */
const oldBound = '--heap-growing-percent=25'

/**
 * V8 allocates all objects as young objects. By default it allocates objects as old at once when earlier objects from the same
 * line of code lived long. The rows that a gateway caches at its start come from the same line as those of each request (decision 022).
 */
const youngFirst = '--no-allocation-site-pretenuring'

/** The bounds of V8 as arguments of a process, for benchmarks that run a part of the gateway. */
export const heapArguments: readonly string[] = [youngBound, threadBound, oldBound, youngFirst]

/** V8 accepts dashes and underscores alike. */
function flagOf(word: string): string {
  return (word.split('=')[0] ?? '').replaceAll('_', '-')
}

/** Whether the process may replace itself. A process with a channel to its parent may not: the channel would be lost. */
function canReplace(): boolean {
  return process.execve !== undefined && process.channel === undefined
}

function replace(env: NodeJS.ProcessEnv, bounds: readonly string[]): void {
  const words = [...process.execArgv, ...bounds, ...process.argv.slice(1)]
  // glibc keeps freed memory in up to eight arenas per processor.
  const bounded = { MALLOC_ARENA_MAX: '2', ...env }
  try {
    process.execve?.(process.execPath, [process.execPath, ...words], bounded)
  } catch {
    // The system does not support it, or Node's permission model forbids it: the gateway works but uses more memory.
  }
}
