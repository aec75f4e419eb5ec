import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

/**
 * Lowers the priority of the thread that calls it: with as many others as processors, it gets a tenth of the time that each of these
 * gets. For work that the event loop must not wait for.
 */
export function lowerThreadPriority(): void {
  try {
    // On Linux each thread has a priority of its own, by its own number.
    const thread = Number(basename(readlinkSync('/proc/thread-self')))
    if (getPriority(thread) < lowPriority) setPriority(thread, lowPriority)
  } catch {
    // Elsewhere threads have one priority.
  }
}

const lowPriority = 10
