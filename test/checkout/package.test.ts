import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { openSigningKey } from '../../src/api/tokens/signing-key.ts'
import { install, pack, packClient } from '../support/packed.ts'
import { rest } from '../support/rest.ts'
import { runStory } from '../support/story.ts'
import { until } from '../support/until.ts'
import { addressOf, untilHealth, user } from '../support/wallet.ts'

/** The program and the client, installed from their tarballs into an empty folder. */

const root = fileURLToPath(new URL('../..', import.meta.url))
let folder = ''
let tarball = ''
let clientTarball = ''
/** The folder with the installed tarballs, and the package of the program in it. */
let home = ''
let program = ''
let entry = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-package-'))
  // A file that an earlier version of the sources left.
  writeFileSync(join(root, 'dist/gone.js'), '')
  home = join(folder, 'home')
  program = join(home, 'node_modules/ledger-gateway')
  tarball = await pack(folder)
  clientTarball = await packClient(folder)
  await install(home, tarball, clientTarball)
  entry = join(program, packageJson.bin['ledger-gateway'])
}, 180_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Returns the paths of all files below a folder. */
function filesBelow(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(path.length + 1))
}

/** Runs a module in the folder of the installed packages. */
async function runModule(source: string): Promise<{ stdout: string; stderr: string }> {
  const words = ['--input-type=module', '--eval', source]
  return await promisify(execFile)(process.execPath, words, { cwd: home })
}

/** Runs the example of the client twice on an address that is paid. The second run resumes where the first one ended. */
async function followWithExample(url: string): Promise<void> {
  copyFileSync(join(root, 'docs/examples/client/node.ts'), join(home, 'node.ts'))
  const address = addressOf(user(3))
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  for (let time = 0; time < 2; time++) {
    const child = spawn(process.execPath, ['node.ts', url, address], { cwd: home })
    const ended = once(child, 'close')
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    const cursor = join(home, 'cursor')
    const from = existsSync(cursor) ? readFileSync(cursor, 'utf8') : ''
    await until(() => output.startsWith(`following from ${from}`))
    await rest(`${url}/api/enqueue`, { ...init, body: JSON.stringify({ address }) })
    await until(() => /^\+\d+ 0x[0-9a-f]{76}\n/m.test(output))
    await until(() => existsSync(cursor) && readFileSync(cursor, 'utf8') !== from)
    child.kill()
    await ended
    expect(output.split('\n')).toHaveLength(3)
  }
}

describe('the tarball', () => {
  test('has the compiled program, and neither sources nor tests', () => {
    const files = filesBelow(program)
    const folders = new Set(files.map((file) => file.split('/')[0]))
    expect([...folders].toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'dist',
      'docs',
      'package.json',
      'prisma',
      'schema.graphql',
    ])
    const code = files.filter((file) => file.startsWith('dist/') && !/^dist\/explorer\//.test(file))
    const sourceless = code.filter((file) => {
      const [, base = file, ending] = /^dist\/(.*?)(?:\.d)?\.([cm]?[jt]s)$/.exec(file) ?? []
      return !existsSync(join(root, 'src', `${base}.ts`)) && ending !== 'cjs'
    })
    expect(sourceless).toEqual(['dist/openapi.json'])
    const types = code.filter((file) => /\.d\.c?ts$/.test(file) && !/^dist\/client\//.test(file))
    expect(types).toEqual(['dist/start-gateway.d.ts'])
    const sources = filesBelow(join(root, 'src')).filter(
      (file) => /\.ts$/.test(file) && !/^(generated\/)?explorer\//.test(file),
    )
    const missing = sources.filter((file) => !code.includes(`dist/${file.replace(/ts$/, 'js')}`))
    expect(missing).toEqual([])
    for (const name of ['prisma', 'postgresql'])
      expect(code).toContain(`dist/generated/${name}/client.js`)
    for (const name of ['prisma', 'prisma/postgresql']) {
      const migrations = join(root, name, 'migrations')
      const packed = filesBelow(join(program, name, 'migrations'))
      expect(packed.toSorted()).toEqual(filesBelow(migrations).toSorted())
    }
    expect(files).toContain('dist/explorer/index.html')
  })

  test('takes less than 165 MB with all its packages', () => {
    const modules = join(home, 'node_modules')
    const bytes = filesBelow(modules).map((file) => statSync(join(modules, file)).size)
    // Counted in blocks of the file system, as `du` does.
    const taken = bytes.reduce((sum, size) => sum + Math.ceil(size / 4096) * 4096, 0)
    expect(taken).toBeLessThan(165e6)
    // A missing package would make the sum smaller.
    expect(taken).toBeGreaterThan(80e6)
  })

  test('has types for its exports for every resolution of ES modules', async () => {
    const bytes = new Uint8Array(readFileSync(tarball))
    const entrypoints = ['.', './client']
    const checked = await checkPackage(createPackageFromTarballData(bytes), { entrypoints })
    if (!checked.types) throw new Error('the package has no types')
    // The package has no CommonJS files, and the old resolution does not know exports.
    const others = checked.problems.filter(
      (one) => !('resolutionKind' in one && /^node(10|16-cjs)$/.test(one.resolutionKind)),
    )
    expect(others).toEqual([])
    const { messages } = await publint({ pack: { tarball: bytes.buffer } })
    expect(messages).toEqual([])
  })

  test('of the client has a README without links to files that it lacks', () => {
    const readme = readFileSync(join(home, 'node_modules/@ledger-gateway/client/README.md'), 'utf8')
    expect(readme).toContain('docs/examples/client/node.ts')
    expect(readme.match(/\]\((?!https?:|#)[^)]*\)/g)).toBeNull()
  })

  test('exports the schema and the OpenAPI document by name', async () => {
    const { stdout } = await runModule(`
      import { readFileSync } from 'node:fs'
      import openapi from 'ledger-gateway/openapi.json' with { type: 'json' }
      const schema = readFileSync(new URL(import.meta.resolve('ledger-gateway/schema.graphql')))
      console.log(schema.length, openapi.info.version, Object.keys(openapi.paths).length > 50)
    `)
    const { size } = statSync(join(root, 'schema.graphql'))
    expect(stdout).toBe(`${size} ${packageJson.version} true\n`)
  })
})

describe('the installed program', { timeout: 120_000 }, () => {
  test('starts, serves the client and ends on a signal without a warning', async () => {
    const { PATH } = process.env
    const env = {
      PATH,
      PORT: '0',
      DATABASE_URL: `file:${join(folder, 'test.db')}`,
      LOG_LEVEL: 'warn',
      // Operations are slow on a busy machine, which would be logged.
      SLOW_OPERATION_MS: '0',
    }
    const child = spawn(process.execPath, [entry, 'serve'], { env, cwd: folder })
    const ended = once(child, 'close')
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const url = await new Promise<string>((resolve, reject) => {
      let stdout = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text
        const [, found] = /GraphQL\s+(http\S+)\/graphql\n/.exec(stdout) ?? []
        if (found !== undefined) resolve(found)
      })
      child.once('close', (code) => reject(new Error(`ended with ${code}: ${stderr}`)))
    })
    await untilHealth(url)
    await followWithExample(url)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(stderr).toBe('')
  })

  test('runs its demonstration', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [entry, 'demo'])
    expect(stdout).toContain('"transport":"subscription"')
    expect(stdout).toMatch(/\{"agrees":true\}\n$/)
    expect(stderr).toBe('')
  })

  test('prints its version', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [entry, '--version'])
    expect(stdout).toBe(`${packageJson.version}\n`)
  })
})

describe('a program that imports the package', { timeout: 120_000 }, () => {
  test('starts a gateway, follows it and ends when the gateway is closed', async () => {
    const { stdout, stderr } = await runModule(`
      import { startGateway } from 'ledger-gateway'
      import { follow } from 'ledger-gateway/client'

      const log = []
      const settings = { PORT: 0, DATABASE_URL: 'file:./library.db', DRAIN_SECONDS: 0 }
      const gateway = await startGateway(settings, { log: (line) => log.push(JSON.parse(line).event) })
      const events = []
      for await (const { __typename } of follow({ url: gateway.url })) {
        events.push(__typename)
        break
      }
      console.log(gateway.network, gateway.metricsUrl, events[0], log.includes('ledger-begins'))
      await gateway.close()
    `)
    const expected = 'ledger-gateway-dev undefined FeedOpened true\n'
    expect({ stdout, stderr }).toEqual({ stdout: expected, stderr: '' })
  })

  test('gets a code and a sentence for wrong settings', async () => {
    const { stdout } = await runModule(`
      import { startGateway } from 'ledger-gateway'
      const refused = [
        { port: 0 },
        { WORKERS: 2 },
        { PORT: -1 },
        { PORT: 0, DATABASE_URL: 'file:package.json' },
      ]
      for (const settings of refused) {
        await startGateway(settings).catch(({ code, message }) => console.log(code, message))
      }
    `)
    expect(stdout.split('\n')).toEqual([
      'SETTING_INVALID port is not a setting',
      'SETTING_INVALID WORKERS is available only in the command serve',
      'SETTING_INVALID PORT must be a whole number from 0 to 65535, not "-1"',
      expect.stringMatching(/^DATABASE_UNUSABLE .*\/package\.json: file is not a database$/),
      '',
    ])
  })
})

describe('the walk-through of docs/operations.md', { timeout: 120_000 }, () => {
  test('works with the installed packages: install, start, follow, metrics, backup, restore, upgrade', async () => {
    const srv = join(home, 'srv')
    mkdirSync(srv)
    // As npm writes it: without a type, for which Node warns about modules whose names do not say what they are.
    writeFileSync(join(srv, 'package.json'), '{ "dependencies": {} }')
    copyFileSync(join(root, 'docs/examples/client/node.ts'), join(srv, 'follow.mts'))
    const releases = join(root, 'test/releases')
    const former = join(srv, 'former')
    mkdirSync(join(former, 'data'), { recursive: true })
    const backup = gunzipSync(readFileSync(join(releases, '0.1.0.backup.gz')))
    writeFileSync(join(former, 'data/ledger-gateway.db'), backup)
    await openSigningKey({ kind: 'file', path: join(former, 'data/ledger-gateway.key') })
    const follower = JSON.parse(readFileSync(join(releases, '0.1.0.follower.json'), 'utf8'))
    writeFileSync(join(former, 'cursor'), follower.cursor)
    const tarballs = [tarball, clientTarball].map((path) => basename(path))
    const beginsMs = 1_000 * follower.stoppedAt
    const lines = await runStory({ folder: srv, tarballs, entry, beginsMs })
    expect(lines).toContain(`following from ${follower.cursor}`)
    const valuesOf = (metric: string) =>
      lines.filter((line) => line.startsWith(metric)).map((line) => Number(line.split(' ')[1]))
    for (const metric of ['booked_blocks_total', 'feed_delay_seconds_count']) {
      const [before = 0, after = 0] = valuesOf(`ledger_gateway_${metric} `)
      expect(after, metric).toBeGreaterThan(before)
    }
  })
})
