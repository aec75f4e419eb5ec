import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:http'
import { devNull } from 'node:os'
import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'

/**
 * Watches whether the process can open more files. Where it cannot, the system's library accepts and cuts each new
 * connection without any event of the server.
 */

/** A check every second. */
export interface OpenFilesWatch {
  close(): void
}

/**
 * Starts the checks for a listening server, and logs when no file descriptor is left, and when there is one again. It also
 * handles the server's error events, which would otherwise end the process.
 */
export function watchOpenFiles(server: Server, log: Pick<Log, 'info' | 'warn'>): OpenFilesWatch {
  const outage = createOutage(log, { began: 'files-exhausted', over: 'files-free' })

  function check(): void {
    try {
      closeSync(openSync(devNull, 'r'))
      outage.recovered()
    } catch (failure) {
      refused(failure)
    }
  }

  function refused(failure: unknown): void {
    const reason = failure instanceof Error ? failure.message : String(failure)
    outage.failed(`${reason}; new connections are cut`)
  }

  server.on('error', refused)

  const checks = setInterval(check, everyMs)
  checks.unref()
  return { close: () => clearInterval(checks) }
}

const everyMs = 1_000
