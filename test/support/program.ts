import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../src/config.ts'

/** Starts the program in its own process, as users do. */

/** A gateway in another process. */
export interface Program {
  /** The URL of the root, without a trailing slash. */
  readonly url: string
  readonly process: ChildProcess
  /** The time from the start of the process until it reported that it was ready. */
  readonly startMs: number
  /** Everything that the process wrote to standard error. */
  logged(): string
  /** Sends a signal and waits for the end of the process. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

/** A folder for the files of one test. */
export interface Folder {
  /** The setting of a database in it. */
  readonly databaseUrl: string
  readonly databaseFile: string
  remove(): void
}

/** Creates the folder. */
export function makeFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'ledger-gateway-e2e-'))
  const databaseFile = join(path, 'test.db')
  return {
    databaseFile,
    databaseUrl: `file:${databaseFile}`,
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** Starts `ledger-gateway serve` on a free port and waits until it is ready. */
export async function startProgram(
  env: Environment,
  through?: readonly string[],
): Promise<Program> {
  const before = performance.now()
  const spawned = spawnProgram(env, through)
  const url = await spawned.ready
  return { ...spawned, url, startMs: performance.now() - before }
}

/** A gateway process that may not be ready. */
export interface SpawnedProgram extends Omit<Program, 'url' | 'startMs'> {
  /** Resolves to the URL when the gateway is ready; rejects if the process ends before. */
  readonly ready: Promise<string>
}

/** Starts `ledger-gateway serve` on a free port. `through` can name another program with arguments that runs it. */
export function spawnProgram(env: Environment, through: readonly string[] = []): SpawnedProgram {
  const [command = '', ...words] = [...through, process.execPath, ...program, 'serve']
  const child = spawn(command, words, {
    cwd: root,
    env: { PORT: '0', DRAIN_DELAY: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  // At `exit` the last output may still be unread.
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const [, url] = /GraphQL\s+(http\S+)\/graphql\n/.exec(stdout) ?? []
      if (url !== undefined) resolve(url)
    })
    child.once('close', (code) => reject(new Error(`ended with ${code}: ${stderr}`)))
  })
  // A test that ends the process before it is ready does not await `ready`.
  ready.catch(() => {})
  return {
    process: child,
    ready,
    logged: () => stderr,
    end: async (signal) => {
      child.kill(signal)
      await ended
    },
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The built program if it is newer than its sources, as under `npm test`; otherwise the sources. */
const program = isBuilt() ? [join(root, 'dist/main.js')] : [join(root, 'src/main.ts')]

function isBuilt(): boolean {
  const built = statSync(join(root, 'dist/.tsbuildinfo'), { throwIfNoEntry: false })
  if (built === undefined) return false
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  return sources.every(
    (entry) =>
      !entry.isFile() || statSync(join(entry.parentPath, entry.name)).mtimeMs <= built.mtimeMs,
  )
}
