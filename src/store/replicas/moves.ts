import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../lib/log.ts'
import type { LogTip } from '../rows.ts'
import { type Place, reaches } from './place.ts'

/** Moves of the reads from one server to another: only to one that has all that was read before. */

/** What moving needs. */
export interface MovesDeps {
  readonly primary: Place
  readonly replicas: readonly Place[]
  readonly primaryLsn: () => Promise<bigint>
  readonly log: Pick<Log, 'info'>
  /** Called after the reads have moved. */
  readonly onMoved: () => void
}

/** The server that is read, and what was read. */
export interface Moves {
  current(): Place
  /** Whether new reads wait for a move. */
  isHeld(): boolean
  /** Resolves when no move holds the reads. */
  free(): Promise<void>
  /** Moves whatever was read. */
  move(to: Place, reason: string): void
  /** Leaves a server for the primary, or where that is away for a replica that has all that was read. */
  moveFrom(place: Place, reason: string): Promise<void>
  /** Moves to a replica that gets to where the primary is in no time, when no read of the primary is under way. */
  moveTo(place: Place): Promise<void>
  /** Takes in a tip that was read. */
  saw(tip: LogTip): void
  /** The newest tip that was read. */
  seen(): LogTip | undefined
}

/** Reads at the primary until it is moved. */
export function createMoves({ primary, replicas, primaryLsn, log, onMoved }: MovesDeps): Moves {
  let current = primary
  let seen: LogTip | undefined
  /** While reads move, new ones wait. */
  let held: Promise<void> | undefined

  function saw(tip: LogTip): void {
    if (seen?.logId !== tip.logId || tip.slot > seen.slot) seen = tip
  }

  async function free(): Promise<void> {
    while (held !== undefined) await held
  }

  /** New reads wait until the work is done. */
  async function holding(work: () => Promise<void>): Promise<void> {
    await free()
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

  async function moveFrom(place: Place, reason: string): Promise<void> {
    await holding(async () => {
      if (current !== place) return
      if (!place.isPrimary && (await primaryShows())) return move(primary, reason)
      for (const other of replicas) {
        if (other === place || other.out !== undefined) continue
        if (await isForward(other, seen)) return move(other, reason)
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

  return {
    current: () => current,
    isHeld: () => held !== undefined,
    free,
    move,
    moveFrom,
    moveTo,
    saw,
    seen: () => seen,
  }
}

/** Whether a server has the newest tip that was read. */
async function isForward({ server }: Place, seen: LogTip | undefined): Promise<boolean> {
  try {
    const { tip } = await server.look()
    if (seen === undefined) return true
    if (tip.logId !== seen.logId || tip.slot < seen.slot) return false
    return (await server.read.milestone(seen.slot))?.commitmentId === seen.commitmentId
  } catch {
    return false
  }
}

/** How long a server may take to show what was read. */
const mostWaitMs = 500

/** How long reads may be held while they move to a replica. */
const mostHoldMs = 200
