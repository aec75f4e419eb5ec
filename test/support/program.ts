import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../src/config.ts'

/** The program as a process of its own, as people start it. */

/** A gateway that serves in another process. */
export interface Program {
  /** Of the root, without a slash at its end. */
  readonly url: string
  readonly process: ChildProcess
  /** From the start of the process until it said that it is ready. */
  readonly startMs: number
  /** What it wrote on standard error so far. */
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

/** Makes a folder. */
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

/** A process that may not serve yet. */
export interface SpawnedProgram extends Omit<Program, 'url' | 'startMs'> {
  /** The address, when it is ready; fails when the process ends before. */
  readonly ready: Promise<string>
}

/** Starts `ledger-gateway serve` on a free port, by another program where `through` names one with its words. */
export function spawnProgram(env: Environment, through: readonly string[] = []): SpawnedProgram {
  const [command = '', ...words] = [...through, process.execPath, ...program, 'serve']
  const child = spawn(command, words, {
    cwd: root,
    env: { PORT: '0', DRAIN_DELAY: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const [, url] = /GraphQL\s+(http\S+)\/graphql\n/.exec(stdout) ?? []
      if (url !== undefined) resolve(url)
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${stderr}`)))
  })
  // Somebody who ends the process before it is ready asks no more.
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

/** The built program when it is younger than its sources, as it is under `npm test`; else the sources themselves. */
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
