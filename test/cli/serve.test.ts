import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StopSignal } from '../../src/cli/command.ts'
import { commandOf } from '../../src/cli/commands.ts'
import { commands } from '../../src/cli/help.ts'
import { serve } from '../../src/cli/serve.ts'
import type { Environment } from '../../src/config.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { settings } from '../../src/settings.ts'
import { rest } from '../support/rest.ts'
import { scrape } from '../support/scrape.ts'

let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-serve-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('serve prints its URL, answers requests and ends on a signal', async () => {
  const DATABASE_URL = `file:${join(folder, 'test.db')}`
  // Longer than the timeout of this test: an interrupt from a terminal skips the drain delay.
  const env = { PORT: '0', DATABASE_URL, LOG_LEVEL: 'info', DRAIN_DELAY: '60' }
  const run = start(serve.run, env, [])
  const text = await run.firstOutput
  const [, url] = /GraphQL\s+(\S+)\/graphql/.exec(text) ?? []
  expect(text).toContain(`ws${url?.slice(4)}/graphql`)
  expect((await rest(`${url}/health`)).headers.get('x-request-id')).not.toBeNull()
  run.stop()
  expect(await run.code).toBe(0)
  const events = run
    .stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).event)
  // The current batch of slots may be logged between the two.
  expect(events.filter((event) => event.startsWith('stop'))).toEqual(['stopping', 'stopped'])
  expect(events.at(-1)).toBe('stopped')
  // Programs read the URL from the log.
  expect(run.stderr()).toContain(`"event":"serving","url":"${url}","network":"ledger-gateway-dev"`)
  await expect(rest(`${url}/health`)).rejects.toThrow()
})

test('serve reports a misspelled variable in the log and in the metrics', async () => {
  const DATABASE_URL = `file:${join(folder, 'misspelled.db')}`
  const env = { PORT: '0', DATABASE_URL, METRICS_PORT: '0', LOG_LEVLE: 'warn' }
  const run = start(serve.run, env, [])
  const [, url = ''] = /Metrics\s+(\S+)/.exec(await run.firstOutput) ?? []
  const line = '"event":"setting-misspelled","variable":"LOG_LEVLE","meant":"LOG_LEVEL"'
  expect(run.stderr()).toContain(line)
  // The alert rules for such events read this series.
  const labels = { event: 'setting-misspelled' }
  expect((await scrape(url)).sum('ledger_gateway_log_events_total', labels)).toBe(1)
  run.stop()
  expect(await run.code).toBe(0)
})

test('serve serves metrics while it waits for a node', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const node = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const DATABASE_URL = `file:${join(folder, 'waiting.db')}`
  const ledger = { LEDGER: 'upstream', UPSTREAM_URLS: node, LOG_LEVEL: 'info' }
  const run = start(serve.run, { PORT: '0', METRICS_PORT: '0', DATABASE_URL, ...ledger }, [])
  await once(silent, 'connection')
  const [, url = ''] = /"event":"metrics-served","url":"([^"]+)"/.exec(run.stderr()) ?? []
  const { has, sum } = await scrape(url)
  const labels = { event: 'migrations-applied' }
  expect(sum('ledger_gateway_log_events_total', labels)).toBe(1)
  expect([has('ledger_gateway_healthy'), sum('ledger_gateway_healthy')]).toEqual([true, 0])
  expect(sum('ledger_gateway_not_ready', { reason: 'STARTING' })).toBe(1)
  expect(has('ledger_gateway_writer')).toBe(false)
  run.stop()
  expect(await run.code).toBe(1)
  await expect(scrape(url)).rejects.toThrow('fetch failed')
  silent.close()
})

describe('without a ledger serve', () => {
  test('creates one and missing folders, and reports that only once', async () => {
    const path = join(folder, 'not', 'yet', 'there.db')
    for (const isNew of [true, false]) {
      const run = start(serve.run, { PORT: '0', DATABASE_URL: `file:${path}` }, [])
      const [first] = (await run.firstOutput).split('\n')
      const words = `No ledger found in ${path}: created a new one.`
      expect(first).toBe(
        isNew ? words : 'Ledger Gateway is ready on the network ledger-gateway-dev.',
      )
      expect(run.stderr().includes('"event":"ledger-begins"')).toBe(isNew)
      run.stop()
      expect(await run.code).toBe(0)
    }
  })

  test('creates neither a ledger nor a folder with --no-create', async () => {
    const path = join(folder, 'nor', 'this', 'one.db')
    const run = start(serve.run, { PORT: '0', DATABASE_URL: `file:${path}` }, ['--no-create'])
    expect(await run.code).toBe(1)
    expect(run.stderr()).toBe(
      `ledger-gateway serve: there is no ledger in ${path}, and --no-create forbids creating one\n`,
    )
    expect(existsSync(join(folder, 'nor'))).toBe(false)
  })
})

describe('serve reports', () => {
  test('all problems of the settings at once', async () => {
    const run = start(serve.run, { PORT: 'x', SUBMIT: 'y' }, ['--what'])
    expect(await run.code).toBe(2)
    for (const word of ['--what', 'PORT', 'SUBMIT']) expect(run.stderr()).toContain(word)
  })

  test('an unsupported kind of database as an invalid argument', async () => {
    const run = start(serve.run, {}, ['--database', 'sqlite:foo'])
    expect(await run.code).toBe(2)
    expect(run.stderr()).toMatch(/^ledger-gateway serve: --database must be file:PATH or postgres/)
  })

  test('a foreign host in one sentence', async () => {
    const env = { PORT: '0', DATABASE_URL: `file:${join(folder, 'other.db')}` }
    const run = start(serve.run, env, ['--host', '203.0.113.1', '--log-level', 'error'])
    expect(await run.code).toBe(1)
    expect(run.stderr()).toBe(
      'ledger-gateway serve: cannot listen on 203.0.113.1 port 0: EADDRNOTAVAIL\n',
    )
  })
})

test.each(['--genesis-file', '--parameters-file', '--jwt-revocations', '--jwt-jwks', '--key-file'])(
  'serve with an unusable file of %s leaves no database and no key',
  async (flag) => {
    const empty = mkdtempSync(join(folder, 'missing-'))
    const DATABASE_URL = `file:${join(empty, 'data', 'test.db')}`
    // A missing key file would be created.
    const path = flag === '--key-file' ? folder : '/none.json'
    const env = { PORT: '0', DATABASE_URL, JWT_ISSUER: 'https://id.example', JWT_AUDIENCE: 'me' }
    const run = start(serve.run, env, [flag, path])
    expect(await run.code).toBe(1)
    expect(run.stderr()).toMatch(/^ledger-gateway serve: .* cannot be used: .*\n$/)
    expect(readdirSync(empty)).toEqual([])
  },
)

test.each([
  ['is missing', '/none.json', '/none.json: no such file or directory (ENOENT)'],
  ['is a folder', tmpdir(), `${tmpdir()}: it is a directory (EISDIR)`],
])('serve leaves no database when the file of --snapshot %s', async (_name, path, reason) => {
  const empty = mkdtempSync(join(folder, 'missing-'))
  const DATABASE_URL = `file:${join(empty, 'data', 'test.db')}`
  const ledger = { LEDGER: 'upstream', UPSTREAM_URLS: 'http://127.0.0.1:1' }
  const run = start(serve.run, { PORT: '0', DATABASE_URL, ...ledger }, ['--snapshot', path])
  expect(await run.code).toBe(1)
  const sentence = `SNAPSHOT_AWAY: the snapshot cannot be read: ${reason}`
  expect(run.stderr()).toBe(`ledger-gateway serve: ${sentence}\n`)
  expect(readdirSync(empty)).toEqual([])
})

describe('serve on a used port', () => {
  const occupied = createServer()
  let port = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve))
    port = String((occupied.address() as AddressInfo).port)
  })
  afterAll(() => occupied.close())

  const rows = [
    ['of the gateway', '--port', 'port PORT of 127.0.0.1 is in use; choose another with --port'],
    [
      'of its metrics',
      '--metrics-port',
      'cannot listen on 127.0.0.1 port PORT for metrics: EADDRINUSE; choose another with --metrics-port',
    ],
  ] as const
  test.each(rows)('%s leaves no database and no key', async (_name, flag, sentence) => {
    const empty = mkdtempSync(join(folder, 'taken-'))
    const DATABASE_URL = `file:${join(empty, 'data', 'test.db')}`
    const run = start(serve.run, { PORT: '0', DATABASE_URL }, [flag, port])
    expect(await run.code).toBe(1)
    expect(run.stderr()).toBe(`ledger-gateway serve: ${sentence.replace('PORT', port)}\n`)
    expect(readdirSync(empty)).toEqual([])
  })

  test('starts none of its workers', async () => {
    // No server listens there: a started process would report that instead.
    const env = { WORKERS: '2', DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/c', PORT: port }
    const run = start(serve.run, env, [])
    expect(await run.code).toBe(1)
    expect(run.stderr()).toBe(
      `ledger-gateway serve: port ${port} of 127.0.0.1 is in use; choose another with --port\n`,
    )
  })
})

describe('help', () => {
  test('of serve lists every setting', async () => {
    const run = start(serve.run, {}, ['--help'])
    expect(await run.code).toBe(0)
    const text = await run.firstOutput
    for (const { variable, flag } of Object.values(settings)) {
      expect(text).toContain(variable)
      if (flag !== undefined) expect(text).toContain(`--${flag} `)
    }
  })

  test.each(['serve', 'token'])('of %s is printed by the command help', async (name) => {
    const run = start(await commandOf('help'), {}, [name])
    expect(await run.firstOutput).toContain(`Usage: ledger-gateway ${name}`)
  })

  const rows = [
    ['no command', undefined, 2],
    ['--help', '--help', 0],
  ] as const
  test.each(rows)('with %s lists every command', async (_name, word, code) => {
    const run = start(await commandOf(word), {}, [])
    expect(await run.code).toBe(code)
    const text = code === 0 ? await run.firstOutput : run.stderr()
    for (const { name } of commands) expect(text).toContain(`  ${name} `)
  })
})

/** Runs a command until `stop` interrupts it. `firstOutput` resolves with its first text on standard output. */
function start(command: typeof serve.run, env: Environment, words: readonly string[]) {
  let stop = () => {}
  const stopped = new Promise<StopSignal>((resolve) => {
    stop = () => resolve('SIGINT')
  })
  let stderr = ''
  let resolveOutput: (text: string) => void = () => {}
  const firstOutput = new Promise<string>((resolve) => {
    resolveOutput = resolve
  })
  const code = command(
    {
      env,
      clock: systemClock,
      stdin: noInput(),
      isTerminal: false,
      progressColumns: undefined,
      stdout: (text) => resolveOutput(text),
      stderr: (text) => {
        stderr += text
      },
      stopped,
      onClockConfirmed: () => {},
    },
    words,
  )
  return { code, firstOutput, stderr: () => stderr, stop }
}

async function* noInput(): AsyncGenerator<Uint8Array> {}
