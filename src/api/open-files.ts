import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Log } from '../lib/log.ts'
import { createTrouble } from '../lib/trouble.ts'

/**
 * Whether the process may open anything more. Where it may not, the system's library takes each new connection and cuts it,
 * and neither the server nor anybody else hears of it.
 */

/** A look every second. */
export interface OpenFilesWatch {
  close(): void
}

/** Begins to look; the log tells when no file descriptor is left, and when there is one again. */
export function watchOpenFiles(log: Pick<Log, 'info' | 'warn'>): OpenFilesWatch {
  const trouble = createTrouble(log, { began: 'files-exhausted', over: 'files-free' })

  function look(): void {
    try {
      closeSync(openSync(devNull, 'r'))
      trouble.went()
    } catch (failure) {
      const reason = failure instanceof Error ? failure.message : String(failure)
      trouble.failed(`${reason}; new connections are cut`)
    }
  }

  const looking = setInterval(look, everyMs)
  looking.unref()
  return { close: () => clearInterval(looking) }
}

const everyMs = 1_000
