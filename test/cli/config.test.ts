import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { config } from '../../src/cli/config.ts'
import { serve } from '../../src/cli/serve.ts'
import { settingsSchema } from '../../src/settings-schema.ts'
import { runCommand } from '../support/run-command.ts'

let folder = ''
let path = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-config-'))
  path = join(folder, 'gateway.json')
  const databaseUrl = `file:${join(folder, 'none.db')}`
  writeFileSync(path, JSON.stringify({ port: 4_001, databaseUrl }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('config check', () => {
  test('ends with 0 for valid settings', async () => {
    const words = ['check', '--config', path]
    const piped = await runCommand(config, words)
    expect(piped).toEqual({ code: 0, stdout: '{"problems":[]}\n', stderr: '' })
    const shown = await runCommand(config, words, { isTerminal: true })
    expect(shown.stdout).toBe('The settings are valid.\n')
    expect(existsSync(join(folder, 'none.db'))).toBe(false)
  })

  test('ends with 1 for invalid settings and reports every problem', async () => {
    const words = ['check', '--config', path, '--what']
    const env = { PORT: 'x', SUBMIT: 'y' }
    const { code, stdout } = await runCommand(config, words, { env, isTerminal: true })
    expect(code).toBe(1)
    expect(stdout).toBe(`--what is unknown
PORT must be a whole number from 0 to 65535, not "x"
SUBMIT must be open, closed or token, not "y"
`)
    const piped = JSON.parse((await runCommand(config, words, { env })).stdout)
    expect(piped.problems).toMatchObject([
      { code: 'FLAG_UNKNOWN', word: '--what' },
      { code: 'SETTING_INVALID', setting: 'PORT', given: 'x' },
      { code: 'SETTING_INVALID', setting: 'SUBMIT', given: 'y' },
    ])
  })

  test('reports variables that resemble a setting, and no other', async () => {
    // One word, or words that no setting has, belong to another program.
    const others = { PORTS: '1', NODE_ENV: 'test', LEDGER_GATEWAY_PORT: '1', DATABASE_URL: '' }
    const env = { ...others, READ_DATABASE_URL: 'a', JWT_SECERT: 'b', LOGLEVEL: 'c' }
    const { code, stderr } = await runCommand(config, ['check', '--config', path], { env })
    expect(stderr).toBe(`READ_DATABASE_URL is not a setting; did you mean READ_DATABASE_URLS?
JWT_SECERT is not a setting; did you mean JWT_SECRET?
LOGLEVEL is not a setting; did you mean LOG_LEVEL?
`)
    expect(code).toBe(0)
  })

  test.each([[[]], [['chek']], [['schema', 'x']]])(
    'ends with 2 for the arguments %j',
    async (words) => {
      expect((await runCommand(config, words)).code).toBe(2)
    },
  )
})

test('config schema prints the JSON Schema of a settings file', async () => {
  const { stdout } = await runCommand(config, ['schema'])
  expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(settingsSchema())))
})

test('serve --config reads its settings from the file', async () => {
  const file = join(folder, 'small.json')
  const databaseUrl = `file:${join(folder, 'small.db')}`
  writeFileSync(file, JSON.stringify({ port: 0, databaseUrl, graphiql: false, logLevel: 'error' }))
  let stop = () => {}
  const stopped = new Promise<'SIGINT'>((resolve) => {
    stop = () => resolve('SIGINT')
  })
  let output = ''
  const stdout = (text: string) => {
    output += text
    stop()
  }
  const { code, stderr } = await runCommand(serve, ['--config', file], { stdout, stopped })
  expect([code, stderr]).toEqual([0, ''])
  expect(output).toMatch(/GraphQL +http:\/\/127\.0\.0\.1:\d+\/graphql\n/)
  expect(output).not.toContain('GraphiQL')
  expect(existsSync(join(folder, 'small.db'))).toBe(true)
})

describe('serve --print-config', () => {
  test('prints JSON with the origin of each value to a pipe, and starts no gateway', async () => {
    const env = { JWT_SECRET: 'hush'.repeat(9) }
    const given = ['--config', path, '--host', '::1', '--print-config']
    const { code, stdout, stderr } = await runCommand(serve, given, { env })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).not.toContain('hush')
    expect(JSON.parse(stdout)).toMatchObject({
      host: { value: '::1', origin: 'flag', place: '--host' },
      port: { value: 4_001, origin: 'file', place: `port in ${path}` },
      jwtSecret: { value: '[secret]', origin: 'environment', place: 'JWT_SECRET' },
      workers: { value: 1, origin: 'default' },
      metricsPort: { value: null, origin: 'default' },
    })
  })

  test('prints a table on a terminal', async () => {
    const given = ['--config', path, '--print-config']
    const { stdout } = await runCommand(serve, given, { isTerminal: true })
    expect(stdout).toMatch(/^ {2}port {2,}4001 +file: port in /m)
    expect(stdout).toMatch(/^ {2}keyFile {2,}\(next to the database\) +default$/m)
  })

  test('reports invalid settings', async () => {
    const { code, stderr } = await runCommand(serve, ['--print-config'], { env: { PORT: 'x' } })
    expect([code, stderr]).toEqual([2, expect.stringContaining('PORT must be')])
  })
})
