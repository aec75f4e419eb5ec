import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Generates the Prisma clients of the peers for each database if they are missing or out of date, with the checkout's Prisma. */

const prisma = createRequire(import.meta.url).resolve('prisma-cli/build/index.js')
const writtenMs = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

const clients = [
  { file: 'schema.prisma', provider: 'sqlite', to: 'sqlite' },
  { file: 'schema.prisma', provider: 'postgresql', to: 'postgresql' },
  { file: 'explorer.prisma', provider: 'sqlite', to: 'explorer/sqlite' },
  { file: 'explorer.prisma', provider: 'postgresql', to: 'explorer/postgresql' },
]

for (const { file, provider, to } of clients) {
  const schemaFile = fileURLToPath(new URL(file, import.meta.url))
  const schema = readFileSync(schemaFile, 'utf8')
  const folder = fileURLToPath(new URL(`generated/${to}/`, import.meta.url))
  if (writtenMs(`${folder}pothos.ts`) > writtenMs(schemaFile)) continue
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}schema.prisma`, schema.replace('"sqlite"', `"${provider}"`))
  execFileSync(process.execPath, [prisma, 'generate', '--no-hints', '--schema', 'schema.prisma'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    // Any existing file: generating does not use the engine, and Prisma would otherwise download it.
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  })
}
