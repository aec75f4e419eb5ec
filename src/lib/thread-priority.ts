import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

/**
 * Lowers the priority of the calling thread. If there are as many other busy threads as processors, the calling thread gets a tenth of
 * the processor time of each of them. Use it for work that must not delay the event loop.
 */
export function lowerThreadPriority(): void {
  try {
    // On Linux each thread has its own priority, which is addressed by the thread id.
    const thread = Number(basename(readlinkSync('/proc/thread-self')))
    if (getPriority(thread) < lowPriority) setPriority(thread, lowPriority)
  } catch {
    // On other systems all threads of a process share one priority.
  }
}

const lowPriority = 10
