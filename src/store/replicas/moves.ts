import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../lib/log.ts'
import type { LogTip } from '../rows.ts'
import { type Place, reaches } from './place.ts'

/** Moves the reads from one server to another, but only to a server that has everything that was read before. */

/** Dependencies of the moves. */
export interface MovesDeps {
  readonly primary: Place
  readonly replicas: readonly Place[]
  readonly primaryLsn: () => Promise<bigint>
  readonly log: Pick<Log, 'info'>
  /** Called after the reads have moved. */
  readonly onMoved: () => void
}

/** The server that is read, and the newest tip that was read. */
export interface Moves extends Omit<SeenTip, 'reset'>, Omit<Hold, 'during'> {
  current(): Place
  /** Moves the reads without checking what was read. */
  move(to: Place, reason: string): void
  /** Moves the reads away from a server: to the primary, or if it is away, to a replica that has everything that was read. */
  moveFrom(place: Place, reason: string): Promise<void>
  /** Moves the reads to a replica that soon reaches the position of the primary, while the primary has no read in progress. */
  moveTo(place: Place): Promise<void>
}

/** Creates the moves. All reads go to the primary until the first move. */
export function createMoves({ primary, replicas, primaryLsn, log, onMoved }: MovesDeps): Moves {
  const { during, isHeld, free } = createHold()
  const tip = createSeenTip()
  let current = primary

  function move(to: Place, reason: string): void {
    log.info('reads-moved', { from: current.server.name, to: to.server.name, reason })
    current = to
    onMoved()
  }

  async function moveFrom(place: Place, reason: string): Promise<void> {
    await during(async () => {
      if (current !== place) return
      if (!place.isPrimary && (await primaryShows(primary, tip))) return move(primary, reason)
      for (const other of replicas) {
        if (other === place || other.out !== undefined) continue
        if (await hasTip(other, tip.seen())) return move(other, reason)
      }
    })
  }

  async function moveTo(place: Place): Promise<void> {
    const near = await primaryLsn()
    if (!(await reaches(place, near, maxHoldMs))) return
    await during(async () => {
      const until = performance.now() + maxHoldMs
      while (primary.underWay.size > 0) {
        if (performance.now() > until) return
        await delay(1)
      }
      const goal = await primaryLsn()
      if (current !== primary || place.out !== undefined) return
      if (await reaches(place, goal, maxHoldMs)) move(place, 'it is near the primary')
    })
  }

  const { saw, seen } = tip
  return { current: () => current, isHeld, free, move, moveFrom, moveTo, saw, seen }
}

/** The newest tip that was read. */
interface SeenTip {
  /** Records a tip that was read. */
  saw(tip: LogTip): void
  seen(): LogTip | undefined
  /** Replaces the newest tip, because the primary has lost it. */
  reset(tip: LogTip): void
}

function createSeenTip(): SeenTip {
  let seen: LogTip | undefined
  return {
    saw: (tip) => {
      if (seen?.logId !== tip.logId || tip.slot > seen.slot) seen = tip
    },
    seen: () => seen,
    reset: (tip) => {
      seen = tip
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
    await free()
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
 * primary does. A tip that the primary does not show within `maxWaitMs` was lost. Then the primary is right, and feeds start again.
 */
async function primaryShows(primary: Place, { seen, reset }: SeenTip): Promise<boolean> {
  const until = performance.now() + maxWaitMs
  for (;;) {
    const look = await primary.server.look().catch(() => undefined)
    if (look === undefined) return false
    const { logId, slot } = look.tip
    const newest = seen()
    if (newest === undefined || logId !== newest.logId || slot >= newest.slot) return true
    if (performance.now() > until) {
      reset(look.tip)
      return true
    }
    await delay(20)
  }
}

/** Whether a server has the newest tip that was read. */
async function hasTip({ server }: Place, seen: LogTip | undefined): Promise<boolean> {
  try {
    const { tip } = await server.look()
    if (seen === undefined) return true
    if (tip.logId !== seen.logId || tip.slot < seen.slot) return false
    return (await server.read.milestone(seen.slot))?.commitmentId === seen.commitmentId
  } catch {
    return false
  }
}

/** Milliseconds that a server may take to show what was read. */
const maxWaitMs = 500

/** Milliseconds for which reads may be held while they move to a replica. */
const maxHoldMs = 200
