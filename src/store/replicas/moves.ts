import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../lib/log.ts'
import type { LogTip, Milestone } from '../rows.ts'
import { type ReadTarget, reaches } from './read-target.ts'

/** Moves the reads from one server to another, but only to a server that has everything that was read before. */

export interface MovesDeps {
  readonly primary: ReadTarget
  readonly replicas: readonly ReadTarget[]
  readonly primaryLsn: () => Promise<bigint>
  readonly log: Pick<Log, 'info'>
  /** Called after the reads have moved. */
  readonly onMoved: () => void
}

/** The server that is read, and the newest tip that was read. */
export interface Moves extends Omit<NewestTip, 'reset'>, Omit<Hold, 'during'> {
  current(): ReadTarget
  /** Moves the reads without checking what was read. */
  move(to: ReadTarget, reason: string): void
  /** Moves the reads away from a server: to the primary, or if it is away, to a replica that has everything that was read. */
  moveFrom(target: ReadTarget, reason: string): Promise<void>
  /** Moves the reads to a replica that soon reaches the position of the primary, while the primary has no read in progress. */
  moveTo(target: ReadTarget): Promise<void>
}

/** Creates the moves. All reads go to the primary until the first move. */
export function createMoves({ primary, replicas, primaryLsn, log, onMoved }: MovesDeps): Moves {
  const { during, isHeld, free } = createHold()
  const tip = createNewestTip()
  let current = primary

  function move(to: ReadTarget, reason: string): void {
    log.info('reads-moved', { from: current.server.name, to: to.server.name, reason })
    current = to
    onMoved()
  }

  async function moveFrom(target: ReadTarget, reason: string): Promise<void> {
    await during(async () => {
      if (current !== target) return
      if (!target.isPrimary && (await primaryShows(primary, tip))) return move(primary, reason)
      for (const other of replicas) {
        if (other === target || other.out !== undefined) continue
        if (await hasTip(other, tip.newestTip())) return move(other, reason)
      }
    })
  }

  async function moveTo(target: ReadTarget): Promise<void> {
    const near = await primaryLsn()
    if (!(await reaches(target, near, maxHoldMs))) return
    await during(async () => {
      const until = performance.now() + maxHoldMs
      while (primary.inFlight.size > 0) {
        if (performance.now() > until) return
        await delay(1)
      }
      const goal = await primaryLsn()
      if (current !== primary || target.out !== undefined) return
      if (await reaches(target, goal, maxHoldMs)) move(target, 'it is near the primary')
    })
  }

  const { recordTip, recordMilestone, newestTip } = tip
  const seen = { recordTip, recordMilestone, newestTip }
  return { current: () => current, isHeld, free, move, moveFrom, moveTo, ...seen }
}

/** A tip that was read. */
export type SeenTip = Pick<LogTip, 'logId' | 'seq' | 'slot' | 'commitmentId'>

/** The newest tip that was read. */
interface NewestTip {
  /** Records a tip that was read. */
  recordTip(tip: SeenTip): void
  /** Records a committed slot that was read, of the log of the newest tip. */
  recordMilestone(milestone: Milestone): void
  newestTip(): SeenTip | undefined
  /** Replaces the newest tip, because the primary has lost it. */
  reset(tip: SeenTip): void
}

function createNewestTip(): NewestTip {
  let newestTip: SeenTip | undefined
  return {
    recordTip: (tip) => {
      if (newestTip?.logId !== tip.logId || tip.slot > newestTip.slot) newestTip = tip
    },
    recordMilestone: ({ slot, commitmentId, lastSeq }) => {
      if (newestTip === undefined || slot <= newestTip.slot) return
      newestTip = { logId: newestTip.logId, seq: lastSeq, slot, commitmentId }
    },
    newestTip: () => newestTip,
    reset: (tip) => {
      newestTip = tip
    },
  }
}

/** Holds new reads while the reads move. */
interface Hold {
  /** Whether new reads wait for a move. */
  isHeld(): boolean
  /** Resolves when no move holds the reads. */
  free(): Promise<void>
  /** Holds new reads until the work is done. Only one such work runs at a time. */
  during(work: () => Promise<void>): Promise<void>
}

function createHold(): Hold {
  let held: Promise<void> | undefined

  async function free(): Promise<void> {
    while (held !== undefined) await held
  }

  async function during(work: () => Promise<void>): Promise<void> {
    // Not `free`: several calls would go on at the same time, because a call of it returns before its caller continues.
    while (held !== undefined) await held
    const done = work().finally(() => {
      held = undefined
    })
    // Waiting reads continue whether or not the move succeeded.
    held = done.catch(() => {})
    await done
  }

  return { isHeld: () => held !== undefined, free, during }
}

/**
 * Waits until the primary has the newest tip that was read. While a commit waits for another standby, a replica shows it before the
 * primary does. If that standby is promoted without the commit, the slot is committed there again, with the same commitment: the blocks
 * of a slot are settled by an earlier transaction. A tip that the primary does not show within `maxLackMs` was lost. Then the primary is
 * right, and feeds start again.
 */
async function primaryShows(
  primary: ReadTarget,
  { newestTip, reset }: NewestTip,
): Promise<boolean> {
  const until = performance.now() + maxLackMs
  for (;;) {
    const state = await primary.server.state().catch(() => undefined)
    if (state === undefined) return false
    const { logId, slot } = state.tip
    const newest = newestTip()
    if (newest === undefined || logId !== newest.logId || slot >= newest.slot) return true
    if (performance.now() > until) {
      reset(state.tip)
      return true
    }
    await delay(20)
  }
}

/** Whether a server has the newest tip that was read. */
async function hasTip({ server }: ReadTarget, newestTip: SeenTip | undefined): Promise<boolean> {
  try {
    const { tip } = await server.state()
    if (newestTip === undefined) return true
    if (tip.logId !== newestTip.logId || tip.slot < newestTip.slot) return false
    return (await server.read.milestone(newestTip.slot))?.commitmentId === newestTip.commitmentId
  } catch {
    return false
  }
}

/** Milliseconds that the primary may take to show what was read: longer than another gateway takes to get the lease and to commit. */
const maxLackMs = 5_000

/** Milliseconds for which reads may be held while they move to a replica. */
const maxHoldMs = 200
