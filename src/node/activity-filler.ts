import { setTimeout as delay } from 'node:timers/promises'
import type { Tail } from '../feed/tail.ts'
import type { Log } from '../lib/log.ts'
import type { StoreWriter } from '../store/contract.ts'
import { createFailureLog } from '../store/failure-log.ts'

/** Counts the activity of slots that were committed before a program counted it. */

/** What counting needs. */
export interface ActivityFillerDeps {
  readonly write: Pick<StoreWriter, 'fillActivity'>
  readonly tail: Pick<Tail, 'watchTip'>
  readonly log: Pick<Log, 'info' | 'error'>
  /** The term of this process; `undefined` while another one writes the log. */
  readonly term: () => number | undefined
}

/** A running filler. */
export interface ActivityFiller {
  close(): Promise<void>
}

/** Counts a few slots at a time, for blocks and slots wait for the same writer; once all are counted it is over. */
export function startActivityFiller({
  write,
  tail,
  log,
  term,
}: ActivityFillerDeps): ActivityFiller {
  const logFailure = createFailureLog(log)
  let filling: Promise<void> | undefined
  let isOver = false
  // With every milestone, for this process may become the writer later. After a failure the next one starts it again.
  const stopWatching = tail.watchTip(() => {
    if (isOver || term() === undefined) return
    filling ??= fill()
      .catch((failure) => logFailure('activity-filling-failed', failure))
      .finally(() => {
        filling = undefined
      })
  })

  async function fill(): Promise<void> {
    let slots = 0
    while (!isOver) {
      const own = term()
      if (own === undefined) return
      const piece = await write.fillActivity(own, { rows: rowsAtOnce })
      if (!piece.ok) return
      slots += piece.value.slots
      if (piece.value.isDone) {
        isOver = true
        if (slots > 0) log.info('activity-filled', { slots })
        return
      }
      await delay(pauseMs)
    }
  }

  async function close(): Promise<void> {
    isOver = true
    stopWatching()
    await filling
  }

  return { close }
}

const rowsAtOnce = 2_000

const pauseMs = 50
