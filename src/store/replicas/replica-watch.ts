import type { Log } from '../../lib/log.ts'
import { reasonOf } from '../unusable.ts'
import { type Floor, unknownLsn } from './floor.ts'
import { createPrimaryPast } from './lag.ts'
import type { Moves } from './moves.ts'
import { endReads, notLookedAt, type Place } from './place.ts'
import type { Look, Server } from './server.ts'

/** Looks at the servers: leaves out the replicas that will not do, takes them in again, and moves the reads accordingly. */

/** What the watch needs. */
export interface ReplicaWatchDeps {
  readonly primary: Place
  readonly replicas: readonly Place[]
  /** Opens a replica anew, by its number. */
  readonly reopen: (replica: number) => Server
  readonly moves: Moves
  readonly floor: Floor
  readonly maxLagMs: number
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** A watch on the servers. */
export interface ReplicaWatch {
  isPrimaryAway(): boolean
  /** Looks at all servers. */
  look(): Promise<void>
  /** Whether a read that failed at a place may be asked again at another one. */
  mayAskAgain(place: Place, reason: string): Promise<boolean>
  /** Resolves when the connections to servers that were left out are closed. */
  closed(): Promise<void>
}

/** Watches nothing until it is asked to look. */
export function createReplicaWatch(deps: ReplicaWatchDeps): ReplicaWatch {
  const { primary, replicas, moves, floor, log } = deps
  const past = createPrimaryPast()
  const closing: Promise<unknown>[] = []
  let isAway = false
  let looking: Promise<void> | undefined

  /** A replica ends reads of rows that it is about to remove, and a pool may be busy: only one that does not answer is left out. */
  async function mayAskAgain(place: Place, reason: string): Promise<boolean> {
    if (await place.server.lsn().then(Boolean, () => false)) return !place.isPrimary
    if (place.isPrimary) {
      isAway = true
      await moves.moveFrom(place, reason)
    } else await leaveOut(place, reason)
    return place !== moves.current()
  }

  async function leaveOut(place: Place, reason: string): Promise<void> {
    const isNews = place.out === undefined || place.out === notLookedAt
    place.out = reason
    if (isNews) log.warn('replica-left-out', { replica: place.server.name, reason })
    if (moves.current() === place) await moves.moveFrom(place, reason)
    if (!isNews) return
    endReads(place)
    // On its connections nothing may ever come back.
    closing.push(place.server.close().catch(() => {}))
    place.server = deps.reopen(replicas.indexOf(place))
  }

  function takeIn(place: Place): void {
    const wasOut = place.out !== undefined && place.out !== notLookedAt
    place.out = undefined
    if (!wasOut) return
    log.info('replica-used-again', { replica: place.server.name })
    if (replicas.every(({ out }) => out === undefined)) log.info('replicas-back')
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
    if (isAway) return await moves.moveFrom(primary, 'the primary is away')
    for (const place of replicas) {
      if (moves.current() !== primary || place.out !== undefined) continue
      // Before anything was read or acknowledged, any moment will do.
      if (moves.seen() === undefined && floor.lsn === 0n) {
        moves.move(place, 'it is the first that will do')
      } else await moves.moveTo(place).catch(() => {})
    }
  }

  async function judge(place: Place, found: Look | Error | undefined, known: Look | undefined) {
    if (found === undefined || found instanceof Error) {
      return await leaveOut(place, found?.message ?? '')
    }
    if (found.lsn > place.reached) place.reached = found.lsn
    // Without the primary nothing new is known of it.
    if (known !== undefined) place.lagMs = past.lagOf(found.lsn)
    const reason = await faultOf(found, known, { ...deps, lagMs: place.lagMs }).catch(
      () => undefined,
    )
    if (reason === undefined) takeIn(place)
    else await leaveOut(place, reason)
  }

  return {
    isPrimaryAway: () => isAway,
    look,
    mayAskAgain,
    closed: async () => void (await Promise.all(closing)),
  }
}

function lookAt({ server }: Place): Promise<Look | Error> {
  return server.look().catch((failure) => new Error(reasonOf(failure)))
}

/** Why a replica that answers will not do. */
async function faultOf(
  { isReplica, tip }: Look,
  known: Look | undefined,
  { primary, maxLagMs, lagMs }: Pick<ReplicaWatchDeps, 'primary' | 'maxLagMs'> & { lagMs: number },
): Promise<string | undefined> {
  if (!isReplica) return 'it follows no primary: it was promoted, or is one'
  if (known === undefined) return undefined
  if (tip.logId !== known.tip.logId) return 'it has another log'
  // One that is ahead shows what the primary is about to show, or another history, which the next slots tell apart.
  const same = tip.slot > known.tip.slot ? tip : await primary.server.read.milestone(tip.slot)
  if (same !== undefined && same.commitmentId !== tip.commitmentId) return 'it has another history'
  return lagMs > maxLagMs ? `it lags by more than ${maxLagMs / 1_000} s` : undefined
}
