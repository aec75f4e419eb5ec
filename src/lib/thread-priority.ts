import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

/**
 * The nice value of a thread by the processor time that it gets, in relation to each other busy thread, if there are at least as many of
 * those as processors. Linux gives a thread of nice value 0 the weight 1,024, of 3 526, and of 10 110 (`sched_prio_to_weight`).
 */
const niceValues = { half: 3, tenth: 10 } as const

/** Lowers the priority of the calling thread, so that its work delays the event loop less. On an idle processor nothing changes. */
export function lowerThreadPriority(share: keyof typeof niceValues): void {
  const niceValue = niceValues[share]
  try {
    // On Linux each thread has its own priority, which is addressed by the thread id.
    const thread = Number(basename(readlinkSync('/proc/thread-self')))
    if (getPriority(thread) < niceValue) setPriority(thread, niceValue)
  } catch {
    // On other systems all threads of a process share one priority.
  }
}
