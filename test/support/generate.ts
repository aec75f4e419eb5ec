import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assert } from '../../src/lib/assert.ts'

/** The Prisma client of each database, generated where it is missing or its schema has changed. */

const clients = {
  // Needed in any case: the store takes the types of both from it, and builds statements with it.
  sqlite: { schema: 'prisma/schema.prisma', folder: 'src/generated/prisma' },
  postgresql: { schema: 'prisma/postgresql/schema.prisma', folder: 'src/generated/postgresql' },
} as const

type ClientName = keyof typeof clients

/** The client of each database. */
export const allClients: readonly ClientName[] = ['sqlite', 'postgresql']

/** The clients of a command with these words and this `DATABASE_URL`: each takes more than a second to generate. */
export function clientsOf(words: readonly string[], databaseUrl = ''): readonly ClientName[] {
  const namesPostgresql = [...words, databaseUrl].some((word) => /postgres(ql)?:/.test(word))
  return namesPostgresql ? allClients : ['sqlite']
}

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

/** Tells whether these clients are there now; when they are up to date it does nothing and says nothing. */
export async function generateClients(
  names: readonly ClientName[],
  { root, say } = checkout,
): Promise<boolean> {
  const missing = names.filter((name) => !isCurrent(root, name))
  if (missing.length === 0) return true
  const startedMs = performance.now()
  say('Generating the database clients from prisma/schema.prisma …\n')
  const results = await Promise.allSettled(missing.map((name) => generate(root, name)))
  for (const result of results) {
    if (result.status === 'rejected') say(messageOf(result.reason))
  }
  if (results.some(({ status }) => status === 'rejected')) return false
  say(`Generated in ${((performance.now() - startedMs) / 1000).toFixed(1)} s.\n`)
  return true
}

/** Whether a client is there, generated from what is there now. */
export function isCurrent(root: string, name: ClientName): boolean {
  const stamp = stampOf(root, name)
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== hashOfInputs(root, name)) return false
  return existsSync(join(root, clients[name].folder, 'client.ts'))
}

/** Holds the hash of what a client was generated from. */
function stampOf(root: string, name: ClientName): string {
  return join(root, `${clients[name].folder}.sha256`)
}

/** Of all that decides what is generated: the schema, and the version of Prisma. */
function hashOfInputs(root: string, name: ClientName): string {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const hash = createHash('sha256').update(`${devDependencies['prisma-cli']}\n`)
  hash.update(readFileSync(join(root, clients[name].schema))).update('\0')
  hash.update(readFileSync(fileURLToPath(import.meta.url)))
  return hash.digest('hex')
}

async function generate(root: string, name: ClientName): Promise<void> {
  rmSync(stampOf(root, name), { force: true })
  await runPrisma(root, clients[name].schema)
  if (name === 'postgresql') shareTypes(root)
  writeFileSync(stampOf(root, name), hashOfInputs(root, name))
}

async function runPrisma(root: string, schema: string): Promise<void> {
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
  const file = join(root, clients.postgresql.folder, 'internal/class.ts')
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
