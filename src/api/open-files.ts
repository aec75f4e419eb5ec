import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:http'
import { devNull } from 'node:os'
import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'

/**
 * Whether the process may open anything more. Where it may not, the system's library takes each new connection and cuts it,
 * and neither the server nor anybody else hears of it.
 */

/** A look every second. */
export interface OpenFilesWatch {
  close(): void
}

/**
 * Begins to look on behalf of a server that listens; the log tells when no file descriptor is left, and when there is one
 * again. What the system refuses the server by an event would end the process if nobody heard it.
 */
export function watchOpenFiles(server: Server, log: Pick<Log, 'info' | 'warn'>): OpenFilesWatch {
  const trouble = createOutage(log, { began: 'files-exhausted', over: 'files-free' })

  function look(): void {
    try {
      closeSync(openSync(devNull, 'r'))
      trouble.recovered()
    } catch (failure) {
      refused(failure)
    }
  }

  function refused(failure: unknown): void {
    const reason = failure instanceof Error ? failure.message : String(failure)
    trouble.failed(`${reason}; new connections are cut`)
  }

  server.on('error', refused)

  const looking = setInterval(look, everyMs)
  looking.unref()
  return { close: () => clearInterval(looking) }
}

const everyMs = 1_000
