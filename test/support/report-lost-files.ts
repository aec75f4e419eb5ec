import { type ChildProcess, spawnSync } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import type { Reporter, TestModule } from 'vitest/node'

/** A crash of V8 prints its stack to standard error. */
const keptChars = 4000

/**
 * Names the processes of tests that ended by themselves, and the test files that have no result because of it. Of such an end, Vitest
 * says "Worker exited unexpectedly", without the exit code, the signal and the file.
 */
export function reportLostFiles(): Reporter {
  const ends: string[] = []
  subscribe('child_process', (message) => {
    const child = (message as { readonly process: ChildProcess }).process
    child.once('spawn', () => {
      if (child.spawnargs.some((word) => word.includes('vitest/dist/workers'))) watch(child, ends)
    })
  })
  return {
    onTestRunEnd(files) {
      if (ends.length === 0) return
      const lost = files.filter((file) => ['pending', 'queued'].includes(file.state()))
      const lines = [...ends, ...lost.map(describeFile), ...lastOfKernel()]
      process.stderr.write(`${lines.join('\n')}\n`)
    },
  }
}

function watch(child: ChildProcess, ends: string[]): void {
  let last = ''
  child.stderr?.on('data', (part: Buffer) => {
    last = `${last}${part}`.slice(-keptChars)
  })
  child.once('exit', (code, signal) => {
    // Vitest ends a process that it needs no more by a signal.
    if (child.killed) return
    const end = signal === null ? `with ${code}` : `by ${signal}`
    ends.push(`A process of tests ended ${end}.\n${last}`.trimEnd())
  })
}

function describeFile(file: TestModule): string {
  const open = [...file.children.allTests()].filter((test) => test.result().state === 'pending')
  const names = open.slice(0, 3).map((test) => test.fullName)
  return `No result of ${file.relativeModuleId}. Its first tests without one: ${names.join(', ')}`
}

/** The last lines of the kernel's log, where it may be read. The kernel logs a fault of a thread with its address, and a lack of memory. */
function lastOfKernel(): readonly string[] {
  const { status, stdout } = spawnSync('dmesg', { encoding: 'utf8' })
  return status === 0 ? ['The last lines of dmesg:', ...stdout.trim().split('\n').slice(-4)] : []
}
