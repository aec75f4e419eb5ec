import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../lib/log.ts'
import { storeFaultOf } from '../faults.ts'
import type { LogTip } from '../rows.ts'
import { reasonOf } from '../unusable.ts'
import { createPrimaryPast } from './lag.ts'
import { endReads, notLookedAt, type Place, placeOf, reaches, readAt } from './place.ts'
import type { Look, Server } from './server.ts'

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
  const { maxLagMs, log, onMoved } = deps
  const primary = placeOf(deps.primary, true)
  const replicas = deps.replicas.map((open) => placeOf(open(), false))
  const past = createPrimaryPast()
  const closing: Promise<unknown>[] = []
  let current = primary
  let isAway = false
  let seen: LogTip | undefined
  /** What this process has acknowledged lies up to here. */
  let floor = 0n
  /** The primary cannot say whether a replica lacks what was acknowledged; reads go on without it. */
  let isExcused = false
  /** While reads move, new ones wait. */
  let held: Promise<void> | undefined
  let catchingUp: Promise<void> | undefined
  let looking: Promise<void> | undefined
  let nextLsn: Promise<bigint> | undefined
  let lastLsn: Promise<unknown> = Promise.resolve()

  function saw(tip: LogTip): void {
    if (seen?.logId !== tip.logId || tip.slot > seen.slot) seen = tip
  }

  async function ready(): Promise<Place> {
    const goal = floor
    for (;;) {
      while (held !== undefined) await held
      const place = current
      if (place.isPrimary || place.reached >= goal || isExcused) return place
      catchingUp ??= catchUp(place, goal).finally(() => {
        catchingUp = undefined
      })
      await catchingUp
    }
  }

  async function catchUp(place: Place, goal: bigint): Promise<void> {
    if (await reaches(place, goal, mostWaitMs)) return
    const there = await primary.server.lsn().catch(() => undefined)
    if (there === undefined) isExcused = true
    else await moveFrom(place, 'it lacks what was acknowledged')
  }

  async function use<T>(read: (server: Server) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const place = await ready()
      try {
        return await readAt(place, read)
      } catch (failure) {
        if (attempt === mostAttempts || storeFaultOf(failure) === undefined) throw failure
        if (place === current && !(await mayAskAgain(place, reasonOf(failure)))) throw failure
      }
    }
  }

  /** A replica ends reads of rows that it is about to remove, and a pool may be busy: only one that does not answer is left out. */
  async function mayAskAgain(place: Place, reason: string): Promise<boolean> {
    if (await place.server.lsn().then(Boolean, () => false)) return !place.isPrimary
    if (place.isPrimary) {
      isAway = true
      await moveFrom(place, reason)
    } else await leaveOut(place, reason)
    return place !== current
  }

  async function leaveOut(place: Place, reason: string): Promise<void> {
    const isNews = place.out === undefined || place.out === notLookedAt
    place.out = reason
    if (isNews) log.warn('replica-left-out', { replica: place.server.name, reason })
    if (current === place) await moveFrom(place, reason)
    if (!isNews) return
    endReads(place)
    // On its connections nothing may ever come back.
    closing.push(place.server.close().catch(() => {}))
    place.server = deps.replicas[replicas.indexOf(place)]?.() ?? place.server
  }

  function takeIn(place: Place): void {
    const wasOut = place.out !== undefined && place.out !== notLookedAt
    place.out = undefined
    if (!wasOut) return
    log.info('replica-used-again', { replica: place.server.name })
    if (replicas.every(({ out }) => out === undefined)) log.info('replicas-back')
  }

  /** New reads wait until the work is done. */
  async function holding(work: () => Promise<void>): Promise<void> {
    while (held !== undefined) await held
    const done = work().finally(() => {
      held = undefined
    })
    // Whether the move came about is nothing to those who wait.
    held = done.catch(() => {})
    await done
  }

  function move(to: Place, reason: string): void {
    log.info('reads-moved', { from: current.server.name, to: to.server.name, reason })
    current = to
    onMoved()
  }

  /** To the primary, or where that is away to a replica that has all that was read. */
  async function moveFrom(place: Place, reason: string): Promise<void> {
    await holding(async () => {
      if (current !== place) return
      if (!place.isPrimary && (await primaryShows())) return move(primary, reason)
      for (const other of replicas) {
        if (other === place || other.out !== undefined) continue
        if (await isForward(other)) return move(other, reason)
      }
    })
  }

  /**
   * A replica shows a commit that waits for another standby before the primary does. What does not come soon was lost, and the
   * primary is right: feeds begin anew.
   */
  async function primaryShows(): Promise<boolean> {
    const until = performance.now() + mostWaitMs
    for (;;) {
      const look = await primary.server.look().catch(() => undefined)
      if (look === undefined) return false
      const { logId, slot } = look.tip
      if (seen === undefined || logId !== seen.logId || slot >= seen.slot) return true
      if (performance.now() > until) {
        seen = look.tip
        return true
      }
      await delay(20)
    }
  }

  async function isForward({ server }: Place): Promise<boolean> {
    try {
      const { tip } = await server.look()
      if (seen === undefined) return true
      if (tip.logId !== seen.logId || tip.slot < seen.slot) return false
      return (await server.read.milestone(seen.slot))?.commitmentId === seen.commitmentId
    } catch {
      return false
    }
  }

  /** Moves to a replica that gets to where the primary is in no time, when no read of the primary is under way. */
  async function moveTo(place: Place): Promise<void> {
    const near = await primaryLsn()
    if (!(await reaches(place, near, mostHoldMs))) return
    await holding(async () => {
      const until = performance.now() + mostHoldMs
      while (primary.underWay.size > 0) {
        if (performance.now() > until) return
        await delay(1)
      }
      const goal = await primaryLsn()
      if (current !== primary || place.out !== undefined) return
      if (await reaches(place, goal, mostHoldMs)) move(place, 'it is near the primary')
    })
  }

  /** Joins no question that was asked before, for it may not have what the caller knows of. */
  function primaryLsn(): Promise<bigint> {
    nextLsn ??= lastLsn.then(() => {
      const asked = primary.server.lsn()
      nextLsn = undefined
      lastLsn = asked.catch(() => {})
      return asked
    })
    return nextLsn
  }

  async function raise(): Promise<void> {
    // Reads that move away from the primary later have it: they move to where the primary is then.
    if (current === primary && held === undefined) return
    const lsn = await primaryLsn().catch(() => unknownLsn)
    if (lsn > floor) floor = lsn
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
      isExcused = false
      if (floor === unknownLsn) floor = there.lsn
    }
    const known = there instanceof Error ? undefined : there
    await Promise.all(replicas.map((place, i) => judge(place, looks[i], known)))
    if (current !== primary) return
    if (isAway) return await moveFrom(primary, 'the primary is away')
    for (const place of replicas) {
      if (current !== primary || place.out !== undefined) continue
      // Before anything was read or acknowledged, any moment will do.
      if (seen === undefined && floor === 0n) move(place, 'it is the first that will do')
      else await moveTo(place).catch(() => {})
    }
  }

  function lookAt({ server }: Place): Promise<Look | Error> {
    return server.look().catch((failure) => new Error(reasonOf(failure)))
  }

  async function judge(place: Place, found: Look | Error | undefined, known: Look | undefined) {
    if (found === undefined || found instanceof Error) {
      return await leaveOut(place, found?.message ?? '')
    }
    if (found.lsn > place.reached) place.reached = found.lsn
    // Without the primary nothing new is known of it.
    if (known !== undefined) place.lagMs = past.lagOf(found.lsn)
    const reason = await faultOf(found, known, place.lagMs).catch(() => undefined)
    if (reason === undefined) takeIn(place)
    else await leaveOut(place, reason)
  }

  /** Why a replica that answers will not do. */
  async function faultOf({ isReplica, tip }: Look, known: Look | undefined, lagMs: number) {
    if (!isReplica) return 'it follows no primary: it was promoted, or is one'
    if (known === undefined) return undefined
    if (tip.logId !== known.tip.logId) return 'it has another log'
    // One that is ahead shows what the primary is about to show, or another history, which the next slots tell apart.
    const same = tip.slot > known.tip.slot ? tip : await primary.server.read.milestone(tip.slot)
    if (same !== undefined && same.commitmentId !== tip.commitmentId)
      return 'it has another history'
    return lagMs > maxLagMs ? `it lags by more than ${maxLagMs / 1_000} s` : undefined
  }

  async function close(): Promise<void> {
    for (const { server } of [primary, ...replicas]) closing.push(server.close().catch(() => {}))
    await Promise.all(closing)
  }

  return {
    primary,
    replicas,
    current: () => current,
    isPrimaryAway: () => isAway,
    use,
    raise,
    primaryLsn,
    saw,
    seen: () => seen,
    look,
    close,
  }
}

/** Of one read, at servers that are lost one after the other. */
const mostAttempts = 4

/** For what was acknowledged, before the reads move to the primary. */
const mostWaitMs = 500

/** How long reads may be held while they move to a replica. */
const mostHoldMs = 200

/** No server has it: the primary could not be asked. */
const unknownLsn = 2n ** 64n
