import { present } from '../../lib/assert.ts'
import type { Log } from '../../lib/log.ts'
import { storeFaultOf } from '../faults.ts'
import type { LogTip } from '../rows.ts'
import { reasonOf } from '../unusable.ts'
import { type Floor, unknownLsn } from './floor.ts'
import { createMoves } from './moves.ts'
import { type Place, placeOf, reaches, readAt } from './place.ts'
import { createReplicaWatch } from './replica-watch.ts'
import type { Server } from './server.ts'

/**
 * Which server this process reads at: one replica, as long as it will do, else another one or the primary. What it reads never
 * goes back: it moves only to a server that has all that was read before (docs/decisions/042-read-replicas.md).
 */

/** What the choice needs. */
export interface ChoiceDeps {
  readonly primary: Server
  /** Each opens a replica, anew after it was left out; in the order of preference. */
  readonly replicas: readonly (() => Server)[]
  readonly maxLagMs: number
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Called after the reads have moved to another server. */
  readonly onMoved: () => void
}

/** The servers, and the one that is read. */
export interface Choice {
  readonly primary: Place
  readonly replicas: readonly Place[]
  current(): Place
  isPrimaryAway(): boolean
  /** Reads at the chosen server, once that has what this process has acknowledged; at another one where it is lost meanwhile. */
  use<T>(read: (server: Server) => Promise<T>): Promise<T>
  /** From now on reads have what the primary has now. */
  raise(): Promise<void>
  /** Resolves with where the primary is, asked after the call. */
  primaryLsn(): Promise<bigint>
  /** Takes in a tip that was read. */
  saw(tip: LogTip): void
  /** The newest tip that was read. */
  seen(): LogTip | undefined
  /** Looks at all servers. */
  look(): Promise<void>
  close(): Promise<void>
}

/** Reads at the primary until it is asked to look. */
export function createChoice(deps: ChoiceDeps): Choice {
  const primary = placeOf(deps.primary, true)
  const replicas = deps.replicas.map((open) => placeOf(open(), false))
  const primaryLsn = lsnOf(primary)
  const floor: Floor = { lsn: 0n, isExcused: false }
  const moves = createMoves({ ...deps, primary, replicas, primaryLsn })
  const reopen = (n: number) => present(deps.replicas[n], 'a replica')()
  const watch = createReplicaWatch({ ...deps, primary, replicas, reopen, moves, floor })
  let catchingUp: Promise<void> | undefined

  async function ready(): Promise<Place> {
    const goal = floor.lsn
    for (;;) {
      if (moves.isHeld()) await moves.free()
      const place = moves.current()
      if (place.isPrimary || place.reached >= goal || floor.isExcused) return place
      catchingUp ??= catchUp(place, goal).finally(() => {
        catchingUp = undefined
      })
      await catchingUp
    }
  }

  async function catchUp(place: Place, goal: bigint): Promise<void> {
    if (await reaches(place, goal, mostWaitMs)) return
    const there = await primary.server.lsn().catch(() => undefined)
    if (there === undefined) floor.isExcused = true
    else await moves.moveFrom(place, 'it lacks what was acknowledged')
  }

  async function use<T>(read: (server: Server) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const place = await ready()
      try {
        return await readAt(place, read)
      } catch (failure) {
        if (attempt === mostAttempts || storeFaultOf(failure) === undefined) throw failure
        if (place !== moves.current()) continue
        if (!(await watch.mayAskAgain(place, reasonOf(failure)))) throw failure
      }
    }
  }

  async function raise(): Promise<void> {
    // Reads that move away from the primary later have it: they move to where the primary is then.
    if (moves.current() === primary && !moves.isHeld()) return
    const lsn = await primaryLsn().catch(() => unknownLsn)
    if (lsn > floor.lsn) floor.lsn = lsn
  }

  async function close(): Promise<void> {
    const closing = [primary, ...replicas].map(({ server }) => server.close().catch(() => {}))
    await Promise.all([...closing, watch.closed()])
  }

  const { current, saw, seen } = moves
  const { isPrimaryAway, look } = watch
  return {
    primary,
    replicas,
    current,
    isPrimaryAway,
    use,
    raise,
    primaryLsn,
    saw,
    seen,
    look,
    close,
  }
}

/** Where a server is. Joins no question that was asked before, for it may not have what the caller knows of. */
function lsnOf(place: Place): () => Promise<bigint> {
  let next: Promise<bigint> | undefined
  let last: Promise<unknown> = Promise.resolve()
  return () => {
    next ??= last.then(() => {
      const asked = place.server.lsn()
      next = undefined
      last = asked.catch(() => {})
      return asked
    })
    return next
  }
}

/** Of one read, at servers that are lost one after the other. */
const mostAttempts = 4

/** For what was acknowledged, before the reads move to the primary. */
const mostWaitMs = 500
