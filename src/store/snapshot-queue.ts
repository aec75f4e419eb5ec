import { SnapshotOver } from './snapshot-session.ts'

/** Requests that wait for a snapshot of `snapshots.ts`. */

/** A first-in, first-out queue of requests that wait until another snapshot ends. */
export interface SnapshotQueue {
  waiting(): number
  /** Number of admitted requests that have not claimed their place yet. */
  reserved(): number
  /** Resolves when a place is reserved for the caller. Rejects if no snapshot ends for as long as a snapshot may last. */
  wait(): Promise<void>
  /** Uses a reserved place. Call it in the event loop turn in which the snapshot begins. */
  claim(): void
  /** Reserves the place of an ended snapshot for the first request that waits. */
  admitNext(): void
}

/** Creates an empty queue. */
export function createSnapshotQueue(maxMs: number): SnapshotQueue {
  const waiting: (() => void)[] = []
  let reserved = 0

  function wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        waiting.splice(waiting.indexOf(enter), 1)
        reject(new SnapshotOver())
      }, maxMs)
      late.unref()
      const enter = () => {
        clearTimeout(late)
        resolve()
      }
      waiting.push(enter)
    })
  }

  function claim(): void {
    reserved--
  }

  function admitNext(): void {
    const next = waiting.shift()
    if (next === undefined) return
    reserved++
    next()
  }

  return { waiting: () => waiting.length, reserved: () => reserved, wait, claim, admitNext }
}

/** Requests that wait so that they can share one snapshot. */
export interface BatchGate {
  /** Resolves when a snapshot ends, or after 2 ms. */
  wait(): Promise<void>
  /** Lets all waiting requests continue, because a snapshot has ended. */
  open(): void
}

/** Creates a gate at which no request waits. */
export function createBatchGate(): BatchGate {
  let batch: Promise<void> | undefined
  let open: () => void = () => {}
  return {
    wait: () => {
      batch ??= new Promise((resolve) => {
        const late = setTimeout(() => open(), maxBatchWaitMs)
        open = () => {
          clearTimeout(late)
          batch = undefined
          resolve()
        }
      })
      return batch
    },
    open: () => open(),
  }
}

const maxBatchWaitMs = 2
