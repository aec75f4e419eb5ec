import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Names a process to others on the same database, so that the next one on the same machine sees at once that it was
 * killed. The name is `host:pid:scope`; the scope identifies the boot of the machine and the namespace of its process
 * numbers, within which an unused number means that the process has ended. A container that starts again, or
 * another one of the same host name, has another scope, and so has a machine that was started again.
 */

/** The name of this process. */
export function nameOfThisProcess(): string {
  return [hostname(), process.pid, scope].join(':')
}

/**
 * Whether the process of a name has certainly ended. `false` says nothing: it may run on another machine, or its number
 * may belong to another process now.
 */
export function hasEnded(holder: string): boolean {
  const [, host, pid, itsScope] = /^(.*):(\d+):(\w*)$/.exec(holder) ?? []
  if (scope === '' || itsScope !== scope || host !== hostname()) return false
  return !isRunning(Number(pid))
}

const scope = scopeOfThisProcess()

/** Eight digits; empty where the system does not say. */
function scopeOfThisProcess(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
    const namespace = readlinkSync('/proc/self/ns/pid')
    return createHash('sha256').update(boot).update(namespace).digest('hex').slice(0, 8)
  } catch {
    // Not Linux, or a process without access to it: then a lease is waited out.
    return ''
  }
}

function isRunning(pid: number): boolean {
  try {
    // The signal 0 is not sent: the call only checks whether the process exists.
    return process.kill(pid, 0)
  } catch (thrown) {
    // A process of another user may not be signalled (EPERM), and it runs all the same.
    return !(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')
  }
}
