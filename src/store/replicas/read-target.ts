import { setTimeout as delay } from 'node:timers/promises'
import type { Server } from './server.ts'

/** Server that this process can read from, with its known state. */
export interface ReadTarget {
  /** Connection to the server. It is replaced when the replica is left out. */
  server: Server
  readonly isPrimary: boolean
  /** Position up to which the server certainly has everything. */
  reached: bigint
  /** Reason why the server is left out; `undefined` while it may be read. */
  out: string | undefined
  /** Lag behind the primary in milliseconds. */
  lagMs: number
  /** Reads in progress, each by the function that rejects it when the server is left out. */
  readonly inFlight: Set<(failure: Error) => void>
}

/** Creates the state of a server before its first check. A replica is left out until then. */
export function createReadTarget(server: Server, isPrimary: boolean): ReadTarget {
  const out = isPrimary ? undefined : notChecked
  return { server, isPrimary, reached: 0n, out, lagMs: 0, inFlight: new Set() }
}

/** Reason of a replica that was just opened. */
export const notChecked = 'it was not checked yet'

/** Runs a read. Rejects when the server is left out meanwhile. */
export function readAt<T>(target: ReadTarget, read: (server: Server) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    target.inFlight.add(reject)
    const over = () => target.inFlight.delete(reject)
    read(target.server).then(resolve, reject).finally(over)
  })
}

/** Rejects the reads in progress of a server that was left out, which may never respond. */
export function endReads({ inFlight, server }: ReadTarget): void {
  const failure = new Error(`the replica ${server.name} was left out`)
  // The code of a reset connection, which callers treat as temporary.
  for (const end of inFlight) end(Object.assign(failure, { code: 'ECONNRESET' }))
}

/** Waits up to `maxMs` until a server has reached a position. Resolves to `false` on a timeout, or if the server does not respond. */
export async function reaches(target: ReadTarget, goal: bigint, maxMs: number): Promise<boolean> {
  const until = performance.now() + maxMs
  for (let pauseMs = 1; target.reached < goal; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const lsn = await target.server.lsn().catch(() => undefined)
    if (lsn === undefined) return false
    if (lsn > target.reached) target.reached = lsn
    if (lsn >= goal) return true
    if (performance.now() > until) return false
    await delay(pauseMs)
  }
  return true
}

const maxPauseMs = 20
