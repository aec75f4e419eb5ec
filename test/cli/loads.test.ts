import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

/** A command waits for every module and package that its imports lead to, so they lead to what it runs and no further. */
describe('is loaded', () => {
  const rows = [
    ['for the list of commands', 'main.ts', []],
    ['to refuse settings or show their help', 'cli/serve.ts', []],
    [
      'for a token',
      'cli/token.ts',
      ['jose/decode/protected_header', 'jose/errors', 'jose/jwt/sign', 'jose/jwt/verify'],
    ],
    ['to inspect', 'cli/inspect.ts', ['bech32', 'hash-wasm', 'lru-cache']],
    ['to verify', 'cli/verify.ts', ['bech32', 'hash-wasm', 'lru-cache']],
    ['to complete', 'cli/completion.ts', []],
    ['to follow addresses', 'cli/feed.ts', ['bech32']],
    ['for the faucet', 'cli/faucet.ts', ['bech32', 'graphql-ws/client', 'hash-wasm', 'ws']],
    ['for SQLite', 'store/sqlite.ts', ['@prisma/driver-adapter-utils', 'hash-wasm', 'lru-cache']],
    ['for PostgreSQL', 'store/postgresql.ts', ['@prisma/adapter-pg', 'hash-wasm', 'pg']],
  ] as const
  test.each(rows)('%s: %s', (_what, entry, packages) =>
    expect(packagesOf(entry).filter((name) => !name.startsWith('@prisma/client/'))).toEqual(
      packages,
    ),
  )

  test('for a gateway: no database, and no page', () => {
    const packages = packagesOf('gateway.ts')
    expect(packages).toContain('graphql-yoga')
    const others =
      /^(pg|@prisma\/(adapter-.*|driver-adapter-utils)|@graphql-yoga\/render-graphiql)$/
    expect(packages.filter((name) => others.test(name))).toEqual([])
  })
})

/** The packages that the imports of a source file lead to, in order; types and lazy imports lead nowhere. */
function packagesOf(entry: string): readonly string[] {
  const packages = new Set<string>()
  const seen = new Set<string>()
  const open = [new URL(entry, source).href]
  for (const file of open) {
    if (seen.has(file)) continue
    seen.add(file)
    for (const name of importsOf(file)) {
      if (name.startsWith('.')) open.push(new URL(name, file).href)
      else if (!name.startsWith('node:')) packages.add(name)
    }
  }
  return [...packages].sort()
}

const source = new URL('../../src/', import.meta.url)

function importsOf(file: string): readonly string[] {
  const statements = /^import\s(?!type\s)(?:[\w\s{},*]+\sfrom\s)?['"]([^'"]+)['"]/gm
  const text = readFileSync(new URL(file), 'utf8')
  return [...text.matchAll(statements)].map(([, name = '']) => name)
}
