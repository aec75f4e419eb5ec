import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Generates what the naive peer needs, for each database, where it is missing or old. The command is that of the checkout. */

const prisma = createRequire(import.meta.url).resolve('prisma-cli/build/index.js')
const schemaFile = fileURLToPath(new URL('schema.prisma', import.meta.url))
const schema = readFileSync(schemaFile, 'utf8')
const writtenMs = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

for (const provider of ['sqlite', 'postgresql']) {
  const folder = fileURLToPath(new URL(`generated/${provider}/`, import.meta.url))
  if (writtenMs(`${folder}pothos.ts`) > writtenMs(schemaFile)) continue
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}schema.prisma`, schema.replace('"sqlite"', `"${provider}"`))
  execFileSync(process.execPath, [prisma, 'generate', '--no-hints', '--schema', 'schema.prisma'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    // Any file that exists: the engine is not used here, and would be downloaded.
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  })
}
