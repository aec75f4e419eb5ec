import { setTimeout as delay } from 'node:timers/promises'
import type { Server } from './server.ts'

/** Server that this process can read from, with its known state. */
export interface Place {
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
  readonly underWay: Set<(failure: Error) => void>
}

/** Creates the state of a server before its first check. A replica is left out until then. */
export function placeOf(server: Server, isPrimary: boolean): Place {
  const out = isPrimary ? undefined : notChecked
  return { server, isPrimary, reached: 0n, out, lagMs: 0, underWay: new Set() }
}

/** Reason of a replica that was just opened. */
export const notChecked = 'it was not checked yet'

/** Runs a read. Rejects when the server is left out meanwhile. */
export function readAt<T>(place: Place, read: (server: Server) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    place.underWay.add(reject)
    const over = () => place.underWay.delete(reject)
    read(place.server).then(resolve, reject).finally(over)
  })
}

/** Rejects the reads in progress of a server that was left out, which may never respond. */
export function endReads({ underWay, server }: Place): void {
  const failure = new Error(`the replica ${server.name} was left out`)
  // The code of a reset connection, which callers treat as temporary.
  for (const end of underWay) end(Object.assign(failure, { code: 'ECONNRESET' }))
}

/** Waits up to `maxMs` until a server has reached a position. Resolves to `false` on a timeout, or if the server does not respond. */
export async function reaches(place: Place, goal: bigint, maxMs: number): Promise<boolean> {
  const until = performance.now() + maxMs
  for (let pauseMs = 1; place.reached < goal; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const lsn = await place.server.lsn().catch(() => undefined)
    if (lsn === undefined) return false
    if (lsn > place.reached) place.reached = lsn
    if (lsn >= goal) return true
    if (performance.now() > until) return false
    await delay(pauseMs)
  }
  return true
}

const maxPauseMs = 20
