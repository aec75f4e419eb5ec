import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:http'
import { devNull } from 'node:os'
import type { Log } from '../../lib/log.ts'
import { createOutage } from '../../lib/outage.ts'
import { messageIn } from '../../lib/thrown.ts'

/**
 * Watches whether the process can open more files. If it cannot, libuv accepts and closes each new connection without any event
 * on the server.
 */

/** A running check of free file descriptors. */
export interface OpenFilesWatch {
  close(): void
}

/**
 * Checks every second whether the process can open a file, and logs when no file descriptor is left and when one is free again.
 * It also handles error events of the server, which would otherwise end the process.
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
    outage.failed(`${messageIn(failure)}; new connections are cut`)
  }

  server.on('error', refused)

  const checks = setInterval(check, everyMs)
  checks.unref()
  return { close: () => clearInterval(checks) }
}

const everyMs = 1_000
