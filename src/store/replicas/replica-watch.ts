import type { Log } from '../../lib/log.ts'
import { joined } from '../../lib/shared-read.ts'
import { reasonOf } from '../unusable.ts'
import { type Floor, unknownLsn } from './floor.ts'
import { createPrimaryPositions } from './lag.ts'
import type { Moves } from './moves.ts'
import { endReads, notChecked, type ReadTarget } from './read-target.ts'
import type { Server, ServerState } from './server.ts'

/** Checks the servers, leaves out replicas that must not be read, uses them again, and moves the reads accordingly. */

export interface ReplicaWatchDeps {
  readonly primary: ReadTarget
  readonly replicas: readonly ReadTarget[]
  /** Opens a replica again, by its index in `replicas`. */
  readonly reopen: (replica: number) => Server
  readonly moves: Moves
  readonly floor: Floor
  readonly maxLagMs: number
  readonly log: Pick<Log, 'info' | 'warn'>
}

export interface ReplicaWatch {
  isPrimaryAway(): boolean
  /** Checks all servers. Concurrent calls share one check. */
  check(): Promise<void>
  /** Whether a read that failed at a server may be retried at another one. */
  mayRetry(target: ReadTarget, reason: string): Promise<boolean>
  /** Resolves when the connections to servers that were left out are closed. */
  closed(): Promise<void>
}

/** Creates the watch. It does nothing before the first call. */
export function createReplicaWatch(deps: ReplicaWatchDeps): ReplicaWatch {
  const { primary, replicas, moves, floor } = deps
  const { leaveOut, takeIn, closed } = createLeavingOut(deps)
  const positions = createPrimaryPositions()
  let isAway = false

  /**
   * A replica may cancel reads of rows that it is about to remove, and a connection pool may be busy. So only a server that does not
   * respond is left out.
   */
  async function mayRetry(target: ReadTarget, reason: string): Promise<boolean> {
    if (await target.server.lsn().then(Boolean, () => false)) return !target.isPrimary
    if (target.isPrimary) {
      isAway = true
      await moves.moveFrom(target, reason)
    } else await leaveOut(target, reason)
    return target !== moves.current()
  }

  async function checkAll(): Promise<void> {
    const [there, ...states] = await Promise.all([primary, ...replicas].map(stateOf))
    isAway = there instanceof Error
    if (!(there instanceof Error) && there !== undefined) {
      positions.add(there.lsn)
      floor.isExcused = false
      if (floor.lsn === unknownLsn) floor.lsn = there.lsn
    }
    const known = there instanceof Error ? undefined : there
    // Not every read records its tip. Before the first read of a tip, the reads may move to any replica.
    if (moves.current() === primary && moves.newestTip() !== undefined && known !== undefined)
      moves.recordTip(known.tip)
    await Promise.all(replicas.map((target, i) => judge(target, states[i], known)))
    if (moves.current() !== primary) return
    if (isAway) await moves.moveFrom(primary, 'the primary is away')
    else await leavePrimary(deps)
  }

  async function judge(
    target: ReadTarget,
    found: ServerState | Error | undefined,
    known: ServerState | undefined,
  ) {
    if (found === undefined || found instanceof Error) {
      return await leaveOut(target, found?.message ?? '')
    }
    if (found.lsn > target.reached) target.reached = found.lsn
    const isOtherLog = known !== undefined && known.tip.logId !== found.tip.logId
    // Not every read records its tip.
    if (target === moves.current() && !isOtherLog) moves.recordTip(found.tip)
    // While the primary is away, the lag of a replica is unknown and keeps its last value.
    if (known !== undefined) target.lagMs = positions.lagOf(found.lsn)
    const { lagMs } = target
    const reason = await faultOf(found, known, { ...deps, lagMs }).catch(() => undefined)
    if (reason === undefined) takeIn(target)
    else await leaveOut(target, reason)
  }

  return { isPrimaryAway: () => isAway, check: joined(checkAll), mayRetry, closed }
}

/** Moves the reads from the primary to the first replica that may be read. */
async function leavePrimary({ primary, replicas, moves, floor }: ReplicaWatchDeps): Promise<void> {
  for (const target of replicas) {
    if (moves.current() !== primary || target.out !== undefined) continue
    // Before anything was read or acknowledged, any snapshot of the replica is new enough.
    if (moves.newestTip() === undefined && floor.lsn === 0n) {
      moves.move(target, 'it is the first usable replica')
    } else await moves.moveTo(target).catch(() => {})
  }
}

/** Leaves out replicas and uses them again. */
function createLeavingOut({
  replicas,
  moves,
  reopen,
  log,
}: Pick<ReplicaWatchDeps, 'replicas' | 'moves' | 'reopen' | 'log'>) {
  const closing = new Set<Promise<unknown>>()

  async function leaveOut(target: ReadTarget, reason: string): Promise<void> {
    const isNew = target.out === undefined || target.out === notChecked
    target.out = reason
    if (isNew) log.warn('replica-left-out', { replica: target.server.name, reason })
    if (moves.current() === target) await moves.moveFrom(target, reason)
    // A replica that was left out may be restarted, or another server may have its URL.
    if (!isNew && !target.server.isReplaced()) return
    endReads(target)
    // The old connections may never respond.
    const closed = target.server.close().catch(() => {})
    closing.add(closed)
    void closed.finally(() => closing.delete(closed))
    target.server = reopen(replicas.indexOf(target))
    target.reached = 0n
  }

  function takeIn(target: ReadTarget): void {
    const wasOut = target.out !== undefined && target.out !== notChecked
    target.out = undefined
    if (!wasOut) return
    log.info('replica-used-again', { replica: target.server.name })
    if (replicas.every(({ out }) => out === undefined)) log.info('replicas-back')
  }

  return { leaveOut, takeIn, closed: async () => void (await Promise.all(closing)) }
}

function stateOf({ server }: ReadTarget): Promise<ServerState | Error> {
  return server.state().catch((failure) => new Error(reasonOf(failure)))
}

/** Returns why a replica that responds must not be read, or `undefined` if it may be read. */
async function faultOf(
  { isReplica, tip }: ServerState,
  known: ServerState | undefined,
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
