import { SnapshotOver } from './snapshot-session.ts'

/** Requests that wait for a snapshot of `snapshots.ts`. */

/** Those that wait until another snapshot has ended, first come first served. */
export interface SnapshotQueue {
  /** How many wait. */
  waiting(): number
  /** How many have been let in and have not come yet: their places are promised. */
  promised(): number
  /** Resolves when another has ended and its place is promised; rejects where none does for as long as a snapshot may last. */
  turn(): Promise<void>
  /** One that was let in has come: call it in the same turn of the event loop in which the place is taken. */
  arrive(): void
  /** A snapshot has ended: its place is promised to the first that waits. */
  letIn(): void
}

/** Nothing waits. */
export function createSnapshotQueue(mostMs: number): SnapshotQueue {
  const waiting: (() => void)[] = []
  let promised = 0

  function turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        waiting.splice(waiting.indexOf(enter), 1)
        reject(new SnapshotOver())
      }, mostMs)
      late.unref()
      const enter = () => {
        clearTimeout(late)
        resolve()
      }
      waiting.push(enter)
    })
  }

  function arrive(): void {
    promised--
  }

  function letIn(): void {
    const next = waiting.shift()
    if (next === undefined) return
    promised++
    next()
  }

  return { waiting: () => waiting.length, promised: () => promised, turn, arrive, letIn }
}

/** Those that wait for each other, to begin together. */
export interface Gathering {
  /** Resolves when a snapshot has ended, and soon where none does. */
  gather(): Promise<void>
  /** A snapshot has ended. */
  end(): void
}

/** Nothing waits. */
export function createGathering(): Gathering {
  let gathering: Promise<void> | undefined
  let end: () => void = () => {}
  return {
    gather: () => {
      gathering ??= new Promise((resolve) => {
        const late = setTimeout(() => end(), mostGatherMs)
        end = () => {
          clearTimeout(late)
          gathering = undefined
          resolve()
        }
      })
      return gathering
    },
    end: () => end(),
  }
}

const mostGatherMs = 2
