import type { Log } from '../../lib/log.ts'
import { reasonOf } from '../unusable.ts'
import { type Floor, unknownLsn } from './floor.ts'
import { createPrimaryPast } from './lag.ts'
import type { Moves } from './moves.ts'
import { endReads, notChecked, type Place } from './place.ts'
import type { Look, Server } from './server.ts'

/** Checks the servers, leaves out replicas that must not be read, uses them again, and moves the reads accordingly. */

/** Dependencies of the watch. */
export interface ReplicaWatchDeps {
  readonly primary: Place
  readonly replicas: readonly Place[]
  /** Opens a replica again, by its index in `replicas`. */
  readonly reopen: (replica: number) => Server
  readonly moves: Moves
  readonly floor: Floor
  readonly maxLagMs: number
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** Watch on the servers. */
export interface ReplicaWatch {
  isPrimaryAway(): boolean
  /** Checks all servers. Concurrent calls share one check. */
  look(): Promise<void>
  /** Whether a read that failed at a server may be retried at another one. */
  mayRetry(place: Place, reason: string): Promise<boolean>
  /** Resolves when the connections to servers that were left out are closed. */
  closed(): Promise<void>
}

/** Creates the watch. It does nothing before the first call. */
export function createReplicaWatch(deps: ReplicaWatchDeps): ReplicaWatch {
  const { primary, replicas, moves, floor } = deps
  const { leaveOut, takeIn, closed } = createLeavingOut(deps)
  const past = createPrimaryPast()
  let isAway = false
  let looking: Promise<void> | undefined

  /**
   * A replica may cancel reads of rows that it is about to remove, and a connection pool may be busy. So only a server that does not
   * respond is left out.
   */
  async function mayRetry(place: Place, reason: string): Promise<boolean> {
    if (await place.server.lsn().then(Boolean, () => false)) return !place.isPrimary
    if (place.isPrimary) {
      isAway = true
      await moves.moveFrom(place, reason)
    } else await leaveOut(place, reason)
    return place !== moves.current()
  }

  function look(): Promise<void> {
    looking ??= lookAtAll().finally(() => {
      looking = undefined
    })
    return looking
  }

  async function lookAtAll(): Promise<void> {
    const [there, ...looks] = await Promise.all([primary, ...replicas].map(lookAt))
    isAway = there instanceof Error
    if (!(there instanceof Error) && there !== undefined) {
      past.add(there.lsn)
      floor.isExcused = false
      if (floor.lsn === unknownLsn) floor.lsn = there.lsn
    }
    const known = there instanceof Error ? undefined : there
    await Promise.all(replicas.map((place, i) => judge(place, looks[i], known)))
    if (moves.current() !== primary) return
    if (isAway) await moves.moveFrom(primary, 'the primary is away')
    else await leavePrimary(deps)
  }

  async function judge(place: Place, found: Look | Error | undefined, known: Look | undefined) {
    if (found === undefined || found instanceof Error) {
      return await leaveOut(place, found?.message ?? '')
    }
    if (found.lsn > place.reached) place.reached = found.lsn
    // While the primary is away, the lag of a replica is unknown and keeps its last value.
    if (known !== undefined) place.lagMs = past.lagOf(found.lsn)
    const { lagMs } = place
    const reason = await faultOf(found, known, { ...deps, lagMs }).catch(() => undefined)
    if (reason === undefined) takeIn(place)
    else await leaveOut(place, reason)
  }

  return { isPrimaryAway: () => isAway, look, mayRetry, closed }
}

/** Moves the reads from the primary to the first replica that may be read. */
async function leavePrimary({ primary, replicas, moves, floor }: ReplicaWatchDeps): Promise<void> {
  for (const place of replicas) {
    if (moves.current() !== primary || place.out !== undefined) continue
    // Before anything was read or acknowledged, any snapshot of the replica is new enough.
    if (moves.seen() === undefined && floor.lsn === 0n) {
      moves.move(place, 'it is the first usable replica')
    } else await moves.moveTo(place).catch(() => {})
  }
}

/** Leaves out replicas and uses them again. */
function createLeavingOut({
  replicas,
  moves,
  reopen,
  log,
}: Pick<ReplicaWatchDeps, 'replicas' | 'moves' | 'reopen' | 'log'>) {
  const closing: Promise<unknown>[] = []

  async function leaveOut(place: Place, reason: string): Promise<void> {
    const isNew = place.out === undefined || place.out === notChecked
    place.out = reason
    if (isNew) log.warn('replica-left-out', { replica: place.server.name, reason })
    if (moves.current() === place) await moves.moveFrom(place, reason)
    if (!isNew) return
    endReads(place)
    // The old connections may never respond.
    closing.push(place.server.close().catch(() => {}))
    place.server = reopen(replicas.indexOf(place))
  }

  function takeIn(place: Place): void {
    const wasOut = place.out !== undefined && place.out !== notChecked
    place.out = undefined
    if (!wasOut) return
    log.info('replica-used-again', { replica: place.server.name })
    if (replicas.every(({ out }) => out === undefined)) log.info('replicas-back')
  }

  return { leaveOut, takeIn, closed: async () => void (await Promise.all(closing)) }
}

function lookAt({ server }: Place): Promise<Look | Error> {
  return server.look().catch((failure) => new Error(reasonOf(failure)))
}

/** Returns why a replica that responds must not be read, or `undefined` if it may be read. */
async function faultOf(
  { isReplica, tip }: Look,
  known: Look | undefined,
  { primary, maxLagMs, lagMs }: Pick<ReplicaWatchDeps, 'primary' | 'maxLagMs'> & { lagMs: number },
): Promise<string | undefined> {
  if (!isReplica) return 'it follows no primary: it was promoted, or is one'
  if (known === undefined) return undefined
  if (tip.logId !== known.tip.logId) return 'it has another log'
  // A replica that is ahead has what the primary is about to show, or another history. The next slots tell them apart.
  const same = tip.slot > known.tip.slot ? tip : await primary.server.read.milestone(tip.slot)
  if (same !== undefined && same.commitmentId !== tip.commitmentId) return 'it has another history'
  return lagMs > maxLagMs ? `it lags by more than ${maxLagMs / 1_000} s` : undefined
}
