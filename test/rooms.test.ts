import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/** The import rules (docs/architecture.md): the rooms and the packages that each room may import. */

const source = fileURLToPath(new URL('../src/', import.meta.url))

/** The rooms that the commands and the composition root may import. */
const everyRoom = [
  'metrics',
  'api',
  'tools',
  'service',
  'node',
  'node/embedded',
  'node/open-ledger',
  'feed',
  'store',
  'ledger',
  'protocol',
  'lib',
  'client',
]

/** For each room the rooms that it may import. A folder or file inside a room may have its own row. */
const roomsByRoom: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  protocol: ['lib'],
  ledger: ['protocol', 'lib'],
  generated: [],
  store: ['ledger', 'protocol', 'lib', 'generated'],
  feed: ['store', 'protocol', 'lib'],
  node: ['feed', 'store', 'ledger', 'protocol', 'lib'],
  // Neither mode of the ledger imports the other, and their shared code imports neither. One file selects the mode.
  'node/embedded': ['node', 'store', 'ledger', 'protocol', 'lib'],
  'node/upstream': ['node', 'store', 'ledger', 'protocol', 'lib'],
  'node/open-ledger': ['node/embedded', 'node/upstream', 'node', 'store', 'protocol', 'lib'],
  service: ['node', 'feed', 'store', 'ledger', 'protocol', 'lib'],
  tools: ['service', 'node', 'store', 'ledger', 'protocol', 'lib'],
  metrics: ['api', 'service', 'node', 'store', 'lib'],
  client: [],
  // The explorer uses only the public GraphQL API: it imports the client and documents generated from the schema.
  explorer: ['client', 'generated/explorer'],
  'generated/explorer': [],
  api: ['service', 'tools', 'protocol', 'lib'],
  cli: ['root', ...everyRoom],
  root: ['cli', ...everyRoom],
}

/** Files directly in `src`: the composition root. Any other file belongs into a room. */
const rootFiles = [
  'heap.ts',
  'client-settings.ts',
  'check-config.ts',
  'config.ts',
  'gateway.ts',
  'main.ts',
  'read-settings.ts',
  'setting-list.ts',
  'setting-values.ts',
  'settings-file.ts',
  'settings-schema.ts',
  'settings.ts',
  'start-gateway.ts',
  'transport-settings.ts',
  'watched-store.ts',
]

/** For each package the rooms that may import it. Packages of a scope share a row. Other Node modules have no restriction. */
const roomsByPackage: Readonly<Record<string, readonly string[]>> = {
  '@noble': ['protocol', 'node', 'explorer'],
  bech32: ['protocol'],
  'hash-wasm': ['protocol'],
  'sodium-native': ['node'],
  'lru-cache': ['lib', 'store', 'feed', 'node', 'node/embedded', 'node/upstream', 'service', 'api'],
  '@prisma': ['store', 'generated'],
  'node:sqlite': ['store'],
  pg: ['store'],
  '@pothos': ['api'],
  '@graphql-yoga': ['api'],
  'graphql-yoga': ['api'],
  graphql: ['api'],
  'graphql-ws': ['api', 'cli'],
  ws: ['api', 'cli'],
  jose: ['api'],
  aedes: ['api'],
  react: ['client'],
  preact: ['explorer'],
  '@preact': ['explorer'],
  uplot: ['explorer'],
  'lean-qr': ['explorer'],
  'prom-client': ['metrics'],
  '@opentelemetry': ['lib'],
}

/** Rooms that also run in a browser and therefore import no Node modules. */
const browserRooms = ['client', 'explorer']

interface Import {
  readonly file: string
  readonly specifier: string
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.tsx?$/.test(file) && statSync(join(source, file)).isFile())
const handWritten = files.filter((file) => roomOf(file) !== 'generated')
const imports = handWritten.flatMap(importsOf)

describe('rooms', () => {
  test('every folder of src is a room of the table', () => {
    const rooms = new Set(files.map(roomOf))
    expect([...rooms].filter((room) => roomsByRoom[room] === undefined)).toEqual([])
    const loose = files.filter((file) => !file.includes('/') && !rootFiles.includes(file))
    expect(loose).toEqual([])
  })

  test('a room imports only the rooms of its row', () => {
    expect(imports.filter(isForeign).map(printed)).toEqual([])
  })

  test('a package is imported only by its owners', () => {
    expect(imports.filter(isPackageOfOthers).map(printed)).toEqual([])
  })

  test('the execution of GraphQL operations does not import the types of the graph', () => {
    const execution = imports.filter(({ file }) => file.startsWith('api/graphql/execution/'))
    expect(execution.length).toBeGreaterThan(100)
    const types = execution.filter((one) => targetOf(one)?.startsWith('api/graphql/types/'))
    expect(types.map(printed)).toEqual([])
  })

  test('the rules reject an unknown room, an unknown package and a package of another room', () => {
    expect(isForeign({ file: 'feed/tail.ts', specifier: '../attic/x.ts' })).toBe(true)
    expect(isForeign({ file: 'protocol/block.ts', specifier: '../ledger/mana.ts' })).toBe(true)
    expect(isForeign({ file: 'client/follow.ts', specifier: '../feed/tail.ts' })).toBe(true)
    expect(isForeign({ file: 'protocol/block.ts', specifier: '../config.ts' })).toBe(true)
    expect(isForeign({ file: 'explorer/live.ts', specifier: '../lib/hex.ts' })).toBe(true)
    expect(isForeign({ file: 'api/explorer.ts', specifier: '../explorer/paths.ts' })).toBe(true)
    expect(isForeign({ file: 'node/source.ts', specifier: './embedded/inbox.ts' })).toBe(true)
    expect(isForeign({ file: 'node/embedded/open.ts', specifier: '../upstream/x.ts' })).toBe(true)
    expect(isForeign({ file: 'node/upstream/open.ts', specifier: '../embedded/x.ts' })).toBe(true)
    expect(isPackageOfOthers({ file: 'feed/tail.ts', specifier: 'left-pad' })).toBe(true)
    expect(isPackageOfOthers({ file: 'feed/tail.ts', specifier: 'aedes' })).toBe(true)
    expect(isPackageOfOthers({ file: 'feed/tail.ts', specifier: 'node:sqlite' })).toBe(true)
    expect(isPackageOfOthers({ file: 'client/follow.ts', specifier: 'node:fs' })).toBe(true)
    expect(isPackageOfOthers({ file: 'api/http/http.ts', specifier: 'preact' })).toBe(true)
    expect(isPackageOfOthers({ file: 'explorer/main.tsx', specifier: 'node:fs' })).toBe(true)
  })

  test('no file imports itself indirectly, including imports of types', () => {
    expect(cycles(imports)).toEqual([])
    const loop = [
      { file: 'feed/a.ts', specifier: './b.ts' },
      { file: 'feed/b.ts', specifier: './c.ts' },
      { file: 'feed/c.ts', specifier: './a.ts' },
    ]
    expect(cycles(loop)).toEqual(['feed/a.ts → feed/b.ts → feed/c.ts → feed/a.ts'])
  })
})

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(source, file), 'utf8')
  const found = text.matchAll(
    /(?:^(?:import|export)\b[^'"`;]*?\bfrom\s*|^import\s*|\bimport\(\s*)'([^']+)'/gm,
  )
  return Array.from(found, ([, specifier = '']) => ({ file, specifier }))
}

function roomOf(file: string): string {
  const [room = '', inner = ''] = file.split('/')
  if (!file.includes('/')) return 'root'
  const nested = `${room}/${inner.replace(/\.ts$/, '')}`
  return roomsByRoom[nested] === undefined ? room : nested
}

/** Returns the imported file relative to `src`, or `undefined` for a package. */
function targetOf({ file, specifier }: Import): string | undefined {
  return specifier.startsWith('.')
    ? posix.normalize(posix.join(posix.dirname(file), specifier))
    : undefined
}

function isForeign(one: Import): boolean {
  const target = targetOf(one)
  // The program reads its own package.json.
  if (target === undefined || target === '../package.json') return false
  const [from, to] = [roomOf(one.file), roomOf(target)]
  return from !== to && roomsByRoom[from]?.includes(to) !== true
}

function isPackageOfOthers({ file, specifier }: Import): boolean {
  if (specifier.startsWith('.')) return false
  const room = roomOf(file)
  const owners = roomsByPackage[specifier.split('/')[0] ?? '']
  if (owners !== undefined) return !owners.includes(room)
  return !specifier.startsWith('node:') || browserRooms.includes(room)
}

function printed({ file, specifier }: Import): string {
  return `${file} imports ${specifier}`
}

/** Returns one import cycle for each group of files that import each other. */
function cycles(from: readonly Import[]): readonly string[] {
  const targetsByFile = new Map<string, string[]>(from.map(({ file }) => [file, []]))
  for (const one of from) {
    const target = targetOf(one)
    if (target !== undefined && targetsByFile.has(target)) {
      targetsByFile.get(one.file)?.push(target)
    }
  }
  const found: string[] = []
  const finished = new Set<string>()
  const path: string[] = []
  const visit = (file: string): void => {
    const start = path.indexOf(file)
    if (start !== -1) {
      found.push([...path.slice(start), file].join(' → '))
      return
    }
    if (finished.has(file)) return
    path.push(file)
    for (const target of targetsByFile.get(file) ?? []) visit(target)
    path.pop()
    finished.add(file)
  }
  for (const file of targetsByFile.keys()) visit(file)
  return found
}
