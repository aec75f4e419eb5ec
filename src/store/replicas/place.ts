import { setTimeout as delay } from 'node:timers/promises'
import type { Server } from './server.ts'

/** A server that this process can read at, with what is known of it. */
export interface Place {
  /** Another one in its place after it was left out. */
  server: Server
  readonly isPrimary: boolean
  /** Up to where it certainly has everything. */
  reached: bigint
  /** Why it is not read; `undefined` while it may be. */
  out: string | undefined
  /** How far behind the primary it is, in milliseconds. */
  lagMs: number
  /** Reads under way, each by what ends it where the server is left out. */
  readonly underWay: Set<(failure: Error) => void>
}

/** Nothing is known of it yet. */
export function placeOf(server: Server, isPrimary: boolean): Place {
  const out = isPrimary ? undefined : notLookedAt
  return { server, isPrimary, reached: 0n, out, lagMs: 0, underWay: new Set() }
}

/** Of a replica that was just opened. */
export const notLookedAt = 'it was not looked at yet'

/** The outcome of a read, or that its server was left out meanwhile. */
export function readAt<T>(place: Place, read: (server: Server) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    place.underWay.add(reject)
    const over = () => place.underWay.delete(reject)
    read(place.server).then(resolve, reject).finally(over)
  })
}

/** Ends the reads under way at a server that is left out, which may never be answered. */
export function endReads({ underWay, server }: Place): void {
  const failure = new Error(`the replica ${server.name} was left out`)
  // As if its connections were reset, which passes.
  for (const end of underWay) end(Object.assign(failure, { code: 'ECONNRESET' }))
}

/** Waits for at most some milliseconds until a server has a position; `false` where it does not come, or the server does not answer. */
export async function reaches(place: Place, goal: bigint, mostMs: number): Promise<boolean> {
  const until = performance.now() + mostMs
  for (let pauseMs = 1; place.reached < goal; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const lsn = await place.server.lsn().catch(() => undefined)
    if (lsn === undefined) return false
    if (lsn > place.reached) place.reached = lsn
    if (lsn >= goal) return true
    if (performance.now() > until) return false
    await delay(pauseMs)
  }
  return true
}

const longestPauseMs = 20
