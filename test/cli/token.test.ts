import { spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSigningKey } from '../../src/api/tokens/signing-key.ts'
import { verifyToken } from '../../src/api/tokens/token.ts'
import { token } from '../../src/cli/token.ts'
import type { Environment } from '../../src/config.ts'
import { createSecret } from '../../src/lib/secret.ts'
import { runCommand } from '../support/run-command.ts'
import { createSettableClock } from '../support/settable-clock.ts'

const nowSeconds = 1_800_000_000
const clock = createSettableClock(BigInt(nowSeconds) * 1_000_000_000n)
const day = 86_400
let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-token-'))
  // The notice of a new key is tested below.
  await run('--scope write', env())
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('token prints only the token', () => {
  const write = { scope: 'chain-record:write', permissions: { write: {} } }
  const rows = [
    ['--scope chain-record:write', write],
    ['--scope write', write],
    ['--scope block:submit', { scope: 'block:submit', permissions: {} }],
    ['--scope=write --scope block:submit', { scope: 'chain-record:write block:submit' }],
    ['--scope write --subject alice', { sub: 'alice' }],
    ['--scope write', { iss: 'ledger-gateway' }],
    ['--scope write --jwt-issuer i --jwt-audience a', { iss: 'i', aud: 'a' }],
    ['--scope write', { sub: 'operator', iat: nowSeconds, exp: nowSeconds + day }],
    ['--scope write --expires 90s', { exp: nowSeconds + 90 }],
    ['--scope write --expires 30m', { exp: nowSeconds + 1_800 }],
    ['--scope write --expires 12h', { exp: nowSeconds + 43_200 }],
    ['--scope write --expires 7d', { exp: nowSeconds + 7 * day }],
  ] as const
  test.each(rows)('%s', async (words, claims) => {
    const { code, stdout, stderr } = await run(words, env())
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    expect(decodeJwt(stdout.trim())).toMatchObject(claims)
  })
})

describe('the token key', () => {
  test('is created at the first use with a notice, readable only by its owner, and reused', async () => {
    const database = `file:${join(folder, 'new', 'x.db')}`
    const [first, second] = [
      await run('--scope write', { DATABASE_URL: database }),
      await run(`--scope write --database ${database}`, {}),
    ]
    const path = join(folder, 'new', 'x.key')
    expect(first.stderr).toBe(
      `Created the new key ${path}. A gateway accepts the token only if it uses this key.\n`,
    )
    expect(second.stderr).toBe('')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    for (const { stdout } of [first, second]) {
      expect(await codeOf({ kind: 'file', path }, stdout)).toBe('ok')
    }
  })

  test.runIf(process.platform === 'linux')('leaves no file if the disk has no room for it', () => {
    const full = mkdtempSync(join(folder, 'full-'))
    const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
    const words = [main, 'token', '--scope', 'write', '--key-file', join(full, 'token.key')]
    const limited = ['--fsize=10:unlimited', process.execPath, ...words]
    const { status, stderr } = spawnSync('prlimit', limited, { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringContaining('EFBIG')])
    expect(readdirSync(full)).toEqual([])
  })

  test('is created once by many concurrent commands', async () => {
    const path = join(folder, 'shared.key')
    const words = `--scope write --key-file ${path}`
    const all = await Promise.all(Array.from({ length: 8 }, () => run(words, {})))
    for (const { stdout } of all) expect(await codeOf({ kind: 'file', path }, stdout)).toBe('ok')
  })

  test('is JWT_SECRET if it is set', async () => {
    const JWT_SECRET = 'a secret of more than thirty-two bytes'
    const { stdout } = await run('--scope write', { JWT_SECRET })
    expect(await codeOf({ kind: 'secret', secret: createSecret(JWT_SECRET) }, stdout)).toBe('ok')
  })

  test.skipIf(process.platform === 'win32').each([
    ['644', 1],
    ['620', 1],
    ['604', 1],
    ['640', 0],
    ['400', 0],
  ])('of mode %s is rejected if others can read or write it', async (mode, expected) => {
    const path = join(folder, `${mode}.key`)
    await run(`--scope write --key-file ${path}`, {})
    chmodSync(path, Number.parseInt(mode, 8))
    const { code, stderr } = await run(`--scope write --key-file ${path}`, {})
    expect(code).toBe(expected)
    if (expected === 0) return
    const reason = `its mode ${mode} allows access by other users; run chmod 600`
    expect(stderr).toBe(`ledger-gateway token: ${path}: ${reason}\n`)
  })

  test.each([
    ['prime256v1', 0, ''],
    ['secp256k1', 1, 'contains a key of the type secp256k1, not ed25519 or prime256v1 (P-256)'],
  ])('of the curve %s gives the exit code %i', async (namedCurve, expected, reason) => {
    const path = join(folder, `${namedCurve}.key`)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve })
    writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    const { code, stdout, stderr } = await run(`--scope write --key-file ${path}`, {})
    expect(code).toBe(expected)
    if (reason !== '') expect(stderr).toContain(reason)
    else expect(await codeOf({ kind: 'file', path }, stdout)).toBe('ok')
  })

  test('in an invalid file is reported with its path', async () => {
    const path = join(folder, 'no.key')
    writeFileSync(path, 'no key')
    const { code, stdout, stderr } = await run(`--scope write --key-file ${path}`, {})
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(`ledger-gateway token: ${path}: contains no private key as PEM\n`)
  })
})

describe('token reports all wrong arguments, without standard output', () => {
  const rows = [
    ['', ['--scope is required']],
    ['--scope read', ['--scope must be one of chain-record:write, block:submit']],
    ['--scope write --expires 1w', ['--expires must be a duration such as']],
    ['--scope write --expires 0d', ['--expires must be a duration such as']],
    ['--scope write --expires 604800s', ['12h or 1d, of at most five digits']],
    ['--scope write --port 1', ['--port is unknown']],
    ['--scop write', ['--scop is unknown', '--scope is required']],
    ['--scope', ['--scope needs a value']],
    ['--scope write --subject a\tb', ['--subject must be 1 to 256 printable characters']],
    [`--scope write --subject ${'a'.repeat(257)}`, ['--subject must be 1 to 256']],
  ] as const
  test.each(rows)('%s', async (words, sentences) => {
    const { code, stdout, stderr } = await run(words, env())
    expect([code, stdout]).toEqual([2, ''])
    for (const sentence of sentences) expect(stderr).toContain(sentence)
  })
})

test('token --json also prints subject, scopes and lifetime', async () => {
  const { stdout } = await run('--scope write --subject me --expires 1h --json', env())
  const { token: text, ...fields } = JSON.parse(stdout)
  expect(text.split('.')).toHaveLength(3)
  expect(fields).toEqual({ subject: 'me', scopes: ['chain-record:write'], lifetimeSeconds: 3_600 })
})

test('the help of token lists every flag', async () => {
  const { code, stdout } = await run('--help', {})
  expect(code).toBe(0)
  for (const flag of ['--scope', '--subject', '--expires', '--key-file', 'JWT_SECRET']) {
    expect(stdout).toContain(flag)
  }
})

function env(): Environment {
  return { KEY_FILE: join(folder, 'test.key') }
}

function run(words: string, environment: Environment) {
  const given = words.split(' ').filter((word) => word !== '')
  return runCommand(token, given, { env: environment, clock, stdin: noInput() })
}

async function codeOf(source: Parameters<typeof openSigningKey>[0], text: string) {
  const key = await openSigningKey(source)
  if (!key.ok) return key.error.code
  const claims = await verifyToken({ key: key.value }, text.trim(), nowSeconds * 1_000)
  return claims.ok ? 'ok' : claims.error.code
}

async function* noInput(): AsyncGenerator<Uint8Array> {}
