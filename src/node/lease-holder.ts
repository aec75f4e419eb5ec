import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * The name of a process for other processes on the same database. The next process on the same machine detects from it at once
 * that the holder was killed. The name is `host:pid:scope`. The scope identifies the boot of the machine and the pid namespace,
 * within which an unused pid means that the process has ended. A restarted container, another container with the same host name
 * and a rebooted machine have different scopes.
 */

export function nameOfThisProcess(): string {
  return [hostname(), process.pid, scope].join(':')
}

/**
 * Whether the process with this name has certainly ended. `false` means unknown: the process may run on another machine, or its
 * pid may belong to another process now.
 */
export function hasEnded(holder: string): boolean {
  const [, host, pid, holderScope] = /^(.*):(\d+):(\w*)$/.exec(holder) ?? []
  if (scope === '' || holderScope !== scope || host !== hostname()) return false
  return !isRunning(Number(pid))
}

const scope = scopeOfThisProcess()

/** Eight hexadecimal digits; empty if the system does not provide them. */
function scopeOfThisProcess(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
    const namespace = readlinkSync('/proc/self/ns/pid')
    return createHash('sha256').update(boot).update(namespace).digest('hex').slice(0, 8)
  } catch {
    // Not Linux, or no access to the files: the lease of a killed process then has to expire.
    return ''
  }
}

function isRunning(pid: number): boolean {
  try {
    // Signal 0 is not sent: the call only checks whether the process exists.
    return process.kill(pid, 0)
  } catch (thrown) {
    // EPERM means that the process belongs to another user, and runs.
    return !(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')
  }
}
