import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { assert } from '../../src/lib/assert.ts'

/** Generates the Prisma client of each database if it is missing or its schema has changed. */

const clients = {
  // Always required: the store uses its types for both databases, and builds statements with it.
  sqlite: { schema: 'prisma/schema.prisma', folder: 'src/generated/prisma' },
  postgresql: { schema: 'prisma/postgresql/schema.prisma', folder: 'src/generated/postgresql' },
} as const

type ClientName = keyof typeof clients

/** The client of each database. */
export const allClients: readonly ClientName[] = ['sqlite', 'postgresql']

/** The clients that a command needs, by its arguments and `DATABASE_URL`. Generating a client takes more than a second. */
export function clientsOf(words: readonly string[], databaseUrl = ''): readonly ClientName[] {
  const namesPostgresql = [...words, databaseUrl].some((word) => /postgres(ql)?:/.test(word))
  return namesPostgresql ? allClients : ['sqlite']
}

/** The folder to generate in, and the function that prints progress. */
export interface Generation {
  readonly root: string
  readonly say: (text: string) => void
}

/** This checkout. */
export const checkout: Generation = {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // Standard output is reserved for the result of a command.
  say: (text) => void process.stderr.write(text),
}

/** Generates the named clients that are not up to date. Returns whether all of them exist afterwards. */
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

/** Whether a client exists and its inputs have not changed since. */
export function isCurrent(root: string, name: ClientName): boolean {
  const stamp = stampOf(root, name)
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== hashOfInputs(root, name)) return false
  return existsSync(join(root, clients[name].folder, 'client.ts'))
}

/** The path of the file that contains the hash of the inputs of a client. */
function stampOf(root: string, name: ClientName): string {
  return join(root, `${clients[name].folder}.sha256`)
}

/** The hash of the inputs of a client: its schema and the version of Prisma. */
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
        // Any existing file: generating does not use the engine, and Prisma would otherwise download it.
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        CHECKPOINT_DISABLE: '1',
      },
    },
  )
}

/**
 * Makes the PostgreSQL client use the types of the SQLite client. The models are equal; the only difference is that one of the two
 * has a mode for text filters. Prisma has no setting for two providers of one schema. The replaced import is a type import.
 */
function shareTypes(root: string): void {
  const file = join(root, clients.postgresql.folder, 'internal/class.ts')
  const text = readFileSync(file, 'utf8')
  const own = 'import type * as Prisma from "./prismaNamespace.ts"'
  assert(text.includes(own), 'the generated client imports its types in one line')
  const shared = 'import type * as Prisma from "../../prisma/internal/prismaNamespace.ts"'
  writeFileSync(file, text.replace(own, shared))
}

/** The error output of Prisma, or the reason why it did not run. */
function messageOf(reason: Error & { readonly stderr?: string }): string {
  return reason.stderr || `${reason.message}\n`
}
