import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

/** The start of a command loads every module and package that it imports, so it imports only what it runs. */
describe('these packages are loaded', () => {
  const noble = ['@noble/hashes/blake2.js', '@noble/hashes/sha2.js']
  const rows = [
    ['for the list of commands', 'main.ts', []],
    ['to check settings or show their help', 'cli/serve.ts', []],
    [
      'to create a token',
      'cli/token.ts',
      ['jose/decode/protected_header', 'jose/errors', 'jose/jwt/sign', 'jose/jwt/verify'],
    ],
    ['to inspect', 'cli/inspect.ts', [...noble, 'bech32', 'hash-wasm']],
    ['to verify', 'cli/verify.ts', [...noble, 'bech32', 'hash-wasm']],
    ['to complete words', 'cli/completion.ts', []],
    ['to follow addresses', 'cli/feed.ts', ['bech32']],
    [
      'to call the faucet',
      'cli/faucet.ts',
      [...noble, 'bech32', 'graphql-ws/client', 'hash-wasm', 'ws'],
    ],
    [
      'to use SQLite',
      'store/sqlite/database.ts',
      [...noble, '@prisma/driver-adapter-utils', 'hash-wasm', 'lru-cache'],
    ],
    [
      'to use PostgreSQL',
      'store/postgresql/database.ts',
      [...noble, '@prisma/adapter-pg', 'hash-wasm', 'pg'],
    ],
  ] as const
  test.each(rows)('%s: %s', (_what, entry, packages) =>
    expect(packagesOf(entry).filter((name) => !name.startsWith('@prisma/client/'))).toEqual(
      packages,
    ),
  )

  test('for a gateway, without a database driver or GraphiQL', () => {
    const packages = packagesOf('gateway.ts')
    expect(packages).toContain('graphql-yoga')
    const others =
      /^(pg|@prisma\/(adapter-.*|driver-adapter-utils)|@graphql-yoga\/render-graphiql)$/
    expect(packages.filter((name) => others.test(name))).toEqual([])
  })
})

/** Returns the packages that a source file imports directly or indirectly, sorted, without types and lazy imports. */
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
