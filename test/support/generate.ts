import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assert } from '../../src/lib/assert.ts'

/** The Prisma client of each database, generated where it is missing or its schema has changed. */

const clients = [
  { schema: 'prisma/schema.prisma', client: 'src/generated/prisma/client.ts' },
  { schema: 'prisma/postgresql/schema.prisma', client: 'src/generated/postgresql/client.ts' },
] as const

/** The folder to generate in, and where it says what it does. */
export interface Generation {
  readonly root: string
  readonly say: (text: string) => void
}

const checkout: Generation = {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // Standard output is for what a command answers.
  say: (text) => void process.stderr.write(text),
}

/** Tells whether the clients are there now; when they are up to date it does nothing and says nothing. */
export async function generateClients({ root, say } = checkout): Promise<boolean> {
  if (areCurrent(root)) return true
  rmSync(stampOf(root), { force: true })
  const startedMs = performance.now()
  say('Generating the database clients from prisma/schema.prisma …\n')
  const results = await Promise.allSettled(clients.map(({ schema }) => generate(root, schema)))
  for (const result of results) {
    if (result.status === 'rejected') say(messageOf(result.reason))
  }
  if (results.some(({ status }) => status === 'rejected')) return false
  shareTypes(root)
  writeFileSync(stampOf(root), hashOfInputs(root))
  say(`Generated in ${((performance.now() - startedMs) / 1000).toFixed(1)} s.\n`)
  return true
}

/** Whether both clients are there, generated from what is there now. */
export function areCurrent(root: string): boolean {
  const stamp = stampOf(root)
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== hashOfInputs(root)) return false
  return clients.every(({ client }) => existsSync(join(root, client)))
}

/** Holds the hash of what the clients were generated from. */
function stampOf(root: string): string {
  return join(root, 'src/generated/inputs.sha256')
}

/** Of all that decides what is generated: the schemas, and the version of Prisma. */
function hashOfInputs(root: string): string {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const hash = createHash('sha256').update(`${devDependencies['prisma-cli']}\n`)
  for (const { schema } of clients) hash.update(readFileSync(join(root, schema))).update('\0')
  hash.update(readFileSync(fileURLToPath(import.meta.url)))
  return hash.digest('hex')
}

async function generate(root: string, schema: string): Promise<void> {
  const prisma = createRequire(import.meta.url).resolve('prisma-cli/build/index.js')
  await promisify(execFile)(
    process.execPath,
    [prisma, 'generate', '--no-hints', '--schema', schema],
    {
      cwd: root,
      env: {
        ...process.env,
        // Any file that exists: the engine is not used here, and would be downloaded.
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        CHECKPOINT_DISABLE: '1',
      },
    },
  )
}

/**
 * Gives the PostgreSQL client the types of the SQLite client: the models are the same, and only one of the two filters on
 * text by mode. Prisma has no setting for two providers of one schema. The import is one of types.
 */
function shareTypes(root: string): void {
  const file = join(root, 'src/generated/postgresql/internal/class.ts')
  const text = readFileSync(file, 'utf8')
  const own = 'import type * as Prisma from "./prismaNamespace.ts"'
  assert(text.includes(own), 'the generated client imports its types in one line')
  const shared = 'import type * as Prisma from "../../prisma/internal/prismaNamespace.ts"'
  writeFileSync(file, text.replace(own, shared))
}

/** What Prisma said, or why it could not be run. */
function messageOf(reason: Error & { readonly stderr?: string }): string {
  return reason.stderr || `${reason.message}\n`
}
