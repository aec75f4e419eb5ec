import { present } from '../../lib/assert.ts'
import type { Log } from '../../lib/log.ts'
import { storeFaultOf } from '../faults.ts'
import { reasonOf } from '../unusable.ts'
import { type Floor, unknownLsn } from './floor.ts'
import { createMoves, type Moves } from './moves.ts'
import { createReadTarget, type ReadTarget, reaches, readAt } from './read-target.ts'
import { createReplicaWatch } from './replica-watch.ts'
import type { Server } from './server.ts'

/**
 * Chooses the server that this process reads from: one replica as long as it is usable, else another replica or the primary. Reads never
 * go back in time: they move only to a server that has everything that was read before (docs/decisions/042-read-replicas.md).
 */

export interface ChoiceDeps {
  readonly primary: Server
  /** Functions that open the replicas, in order of preference. A replica is opened again after it was left out. */
  readonly replicas: readonly (() => Server)[]
  readonly maxLagMs: number
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Called after the reads have moved to another server. */
  readonly onMoved: () => void
}

/** The servers, and the one that is read. */
export interface Choice extends Pick<Moves, 'recordTip' | 'recordMilestone' | 'newestTip'> {
  readonly primary: ReadTarget
  readonly replicas: readonly ReadTarget[]
  current(): ReadTarget
  isPrimaryAway(): boolean
  /**
   * Reads from the chosen server once it has everything that this process has acknowledged. If the server is lost meanwhile, the read is
   * retried at another server.
   */
  use<T>(read: (server: Server) => Promise<T>): Promise<T>
  /** Raises the floor, so that later reads include everything that the primary has now. */
  raise(): Promise<void>
  /** Reads the position of the primary. The query is sent after the call. */
  primaryLsn(): Promise<bigint>
  /** Checks all servers. */
  check(): Promise<void>
  close(): Promise<void>
}

/** Creates the choice. It reads from the primary until the first check. */
export function createChoice(deps: ChoiceDeps): Choice {
  const primary = createReadTarget(deps.primary, true)
  const replicas = deps.replicas.map((open) => createReadTarget(open(), false))
  const primaryLsn = lsnOf(primary)
  const floor: Floor = { lsn: 0n, isExcused: false }
  const moves = createMoves({ ...deps, primary, replicas, primaryLsn })
  const reopen = (n: number) => present(deps.replicas[n], 'a replica')()
  const watch = createReplicaWatch({ ...deps, primary, replicas, reopen, moves, floor })
  const ready = createReadiness({ primary, moves, floor })

  async function use<T>(read: (server: Server) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const target = await ready()
      try {
        return await readAt(target, read)
      } catch (failure) {
        if (attempt === maxAttempts || storeFaultOf(failure) === undefined) throw failure
        if (target !== moves.current()) continue
        if (!(await watch.mayRetry(target, reasonOf(failure)))) throw failure
      }
    }
  }

  async function raise(): Promise<void> {
    // Reads that leave the primary later include this: they move only to a server that has the position of the primary at that time.
    if (moves.current() === primary && !moves.isHeld()) return
    const lsn = await primaryLsn().catch(() => unknownLsn)
    if (lsn > floor.lsn) floor.lsn = lsn
  }

  async function close(): Promise<void> {
    const closing = [primary, ...replicas].map(({ server }) => server.close().catch(() => {}))
    await Promise.all([...closing, watch.closed()])
  }

  const { current, recordTip, recordMilestone, newestTip } = moves
  const { isPrimaryAway, check } = watch
  const servers = { primary, replicas, current, isPrimaryAway }
  const seen = { recordTip, recordMilestone, newestTip }
  return { ...servers, ...seen, use, raise, primaryLsn, check, close }
}

/** Returns a function that resolves to the current server, once this server has everything that the process has acknowledged. */
function createReadiness({
  primary,
  moves,
  floor,
}: Pick<Choice, 'primary'> & { readonly moves: Moves; readonly floor: Floor }) {
  let catchingUp: Promise<void> | undefined

  async function ready(): Promise<ReadTarget> {
    const goal = floor.lsn
    for (;;) {
      if (moves.isHeld()) await moves.free()
      const target = moves.current()
      if (target.isPrimary || target.reached >= goal || floor.isExcused) return target
      catchingUp ??= catchUp(target, goal).finally(() => {
        catchingUp = undefined
      })
      await catchingUp
    }
  }

  async function catchUp(target: ReadTarget, goal: bigint): Promise<void> {
    if (await reaches(target, goal, maxWaitMs)) return
    const there = await primary.server.lsn().catch(() => undefined)
    if (there === undefined) {
      floor.isExcused = true
      return
    }
    // A former primary is the primary again and lacks what was acknowledged. No server has it.
    if (there < goal && floor.lsn === goal && goal !== unknownLsn) floor.lsn = there
    await moves.moveFrom(target, 'it lacks acknowledged writes')
  }

  return ready
}

/** Reads the position of a server. A call never joins an earlier query, whose result may be older than what the caller knows. */
function lsnOf(target: ReadTarget): () => Promise<bigint> {
  let next: Promise<bigint> | undefined
  let last: Promise<unknown> = Promise.resolve()
  return () => {
    next ??= last.then(() => {
      const lsn = target.server.lsn()
      next = undefined
      last = lsn.catch(() => {})
      return lsn
    })
    return next
  }
}

/** Maximum number of attempts of one read, if servers are lost one after the other. */
const maxAttempts = 4

/** Milliseconds that a replica may take to catch up with acknowledged writes before the reads move to the primary. */
const maxWaitMs = 500
