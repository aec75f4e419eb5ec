import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callerOf } from '../../src/api/tokens/auth.ts'
import { type KeySet, type KeySetSource, openKeySet } from '../../src/api/tokens/key-set.ts'
import { openSigningKey } from '../../src/api/tokens/signing-key.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import { unwrap } from '../support/log-store.ts'
import { createMemoryLog } from '../support/memory-log.ts'
import { until } from '../support/until.ts'

/** Keys of another issuer, from a file and from a URL, and their changes while the gateway runs. */

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-keys-'))
  path = join(folder, 'keys.json')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Creates a key of another issuer, and a function that signs tokens with it. */
async function issuerKey(alg: 'EdDSA' | 'ES256', kid: string) {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const token = (header: object = { kid }) =>
    new SignJWT({ sub: 'alice' }).setProtectedHeader({ alg, ...header }).sign(privateKey)
  return { jwk: { ...(await exportJWK(publicKey)), kid }, privateKey, token }
}

const setOf = (...keys: readonly JWK[]) => JSON.stringify({ keys })

async function open(source: KeySetSource) {
  const { log, names } = createMemoryLog()
  const keySet = unwrap(await openKeySet(source, log, { refreshMs: 50, cooldownMs: 0 }))
  return { keySet, names }
}

/** Returns `ok`, or the error code of a refused token. */
async function codeOf(keySet: KeySet, authorization: string): Promise<string> {
  const key = unwrap(await openSigningKey({ kind: 'file', path: join(folder, 'own.key') }))
  const found = await callerOf({ key, clock, keySet }, { authorization }).identify()
  return found.ok ? 'ok' : found.error.code
}

/** Starts a server that responds with the current content of `reply`. */
async function serve(reply: { status: number; body: string }) {
  const server = createServer((_request, response) => {
    response.writeHead(reply.status).end(reply.body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}/keys`, port, close }
}

describe('a file', () => {
  test.each(['EdDSA', 'ES256'] as const)(
    'has keys of %s, which tokens name by key id',
    async (alg) => {
      const [one, other] = [await issuerKey(alg, 'one'), await issuerKey(alg, 'other')]
      writeFileSync(path, setOf(one.jwk))
      const { keySet } = await open({ kind: 'file', path })
      const forged = await new SignJWT({})
        .setProtectedHeader({ alg, kid: 'one' })
        .sign(other.privateKey)
      const secret = await new SignJWT({})
        .setProtectedHeader({ alg: 'HS256', kid: 'one' })
        .sign(Buffer.from(one.jwk.x ?? ''))
      const codes = [await one.token(), await other.token(), forged, secret].map((token) =>
        codeOf(keySet, token),
      )
      expect(await Promise.all(codes)).toEqual([
        'ok',
        'TOKEN_KEY_UNKNOWN',
        'TOKEN_SIGNATURE_INVALID',
        'TOKEN_ALGORITHM_REFUSED',
      ])
      // A token without a key id is checked with the key of the gateway itself.
      expect(['TOKEN_SIGNATURE_INVALID', 'TOKEN_ALGORITHM_REFUSED']).toContain(
        await codeOf(keySet, await one.token({})),
      )
      keySet.close()
    },
  )

  test('is read again when it changes, and its last keys stay valid when it is removed or malformed', async () => {
    const [one, other] = [await issuerKey('EdDSA', 'one'), await issuerKey('ES256', 'other')]
    writeFileSync(path, setOf(one.jwk))
    const { keySet, names } = await open({ kind: 'file', path })
    writeFileSync(path, setOf(other.jwk))
    await until(async () => (await codeOf(keySet, await other.token())) === 'ok')
    expect(await codeOf(keySet, await one.token())).toBe('TOKEN_KEY_UNKNOWN')
    const logged = () => names('token-file-read', 'token-file-unusable')
    writeFileSync(path, '{"keys":')
    await until(() => logged().length >= 2)
    rmSync(path)
    await until(() => logged().length >= 3)
    expect(await codeOf(keySet, await other.token())).toBe('ok')
    writeFileSync(path, setOf(one.jwk))
    await until(async () => (await codeOf(keySet, await one.token())) === 'ok')
    expect(logged()).toEqual([
      'token-file-read',
      'token-file-unusable',
      'token-file-unusable',
      'token-file-read',
    ])
    keySet.close()
  })

  const point = { x: 'AAAA', y: 'AAAA' }
  test.each([
    ['EdDSA', { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }],
    ['EdDSA', { kty: 'OKP', crv: 'Ed25519' }],
    ['ES256', { kty: 'EC', crv: 'P-256', ...point }],
  ] as const)('with an unusable key of %s refuses the tokens of that key', async (alg, jwk) => {
    const [one, other] = [await issuerKey(alg, 'one'), await issuerKey('EdDSA', 'other')]
    writeFileSync(path, setOf({ ...jwk, kid: 'one' }, other.jwk))
    const { keySet } = await open({ kind: 'file', path })
    expect(await codeOf(keySet, await one.token())).toBe('TOKEN_KEY_UNKNOWN')
    expect(await codeOf(keySet, await other.token())).toBe('ok')
    keySet.close()
  })

  const secret = { kty: 'oct', k: 'AAAA', kid: 'one' }
  const rsa = { kty: 'RSA', n: 'AAAA', e: 'AQAB', kid: 'one' }
  const rows = [
    ['that does not exist', undefined, /ENOENT/],
    ['that is not JSON', 'keys', 'not a JSON Web Key Set'],
    ['without keys', '{"keys":7}', 'not a JSON Web Key Set'],
    ['with keys of other kinds only', setOf(rsa), 'contains no key for EdDSA or ES256 with a kid'],
    ['with a secret', setOf(rsa, secret), 'contains a private key or a secret'],
    ['with a private key', setOf({ ...rsa, d: 'AA' }), 'contains a private key or a secret'],
  ] as const
  test.each(rows)('%s is refused at the start', async (_name, text, reason) => {
    if (text !== undefined) writeFileSync(path, text)
    const opened = await openKeySet({ kind: 'file', path }, createMemoryLog().log)
    expect(opened).toMatchObject({ error: { code: 'TOKEN_FILE_UNUSABLE', path } })
    expect(opened.ok ? '' : opened.error.reason).toMatch(reason)
  })

  test.skipIf(process.platform === 'win32')('that all users may write to is refused', async () => {
    writeFileSync(path, setOf((await issuerKey('EdDSA', 'one')).jwk))
    chmodSync(path, 0o666)
    const opened = await openKeySet({ kind: 'file', path }, createMemoryLog().log)
    const reason = 'users of other groups may write to it'
    expect(opened).toMatchObject({ error: { code: 'TOKEN_FILE_UNUSABLE', reason } })
  })
})

describe('a URL', () => {
  test('is read again for an unknown key, and a removed key is no longer valid', async () => {
    const [one, other] = [await issuerKey('EdDSA', 'one'), await issuerKey('ES256', 'other')]
    const reply = { status: 200, body: setOf(one.jwk) }
    const server = await serve(reply)
    const { keySet } = await open({ kind: 'url', url: server.url })
    expect(await codeOf(keySet, await one.token())).toBe('ok')
    reply.body = setOf(other.jwk)
    expect(await codeOf(keySet, await other.token())).toBe('ok')
    expect(await codeOf(keySet, await one.token())).toBe('TOKEN_KEY_UNKNOWN')
    keySet.close()
    server.close()
  })

  test('that is being read makes all tokens of a new key wait for it', async () => {
    const [one, other] = [await issuerKey('EdDSA', 'one'), await issuerKey('ES256', 'other')]
    const bodies = [setOf(one.jwk), setOf(one.jwk, other.jwk)]
    const waiting: (() => void)[] = []
    const server = createServer((_request, response) => {
      const body = bodies.shift()
      if (bodies.length === 1) response.end(body)
      else waiting.push(() => response.end(body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const times = { refreshMs: 50, cooldownMs: 300_000 }
    const keySet = unwrap(await openKeySet({ kind: 'url', url }, createMemoryLog().log, times))
    await until(() => waiting.length > 0)
    const find = () => keySet.find({ algorithm: 'ES256', kid: 'other' })
    const found = [find(), find()]
    waiting[0]?.()
    const key = expect.objectContaining({ type: 'public' })
    expect(await Promise.all(found)).toEqual([key, key])
    keySet.close()
    server.close()
  })

  test('that is unavailable leaves the last keys valid, and is read again', async () => {
    const [one, other] = [await issuerKey('EdDSA', 'one'), await issuerKey('ES256', 'other')]
    const reply = { status: 200, body: setOf(one.jwk) }
    const server = await serve(reply)
    const { keySet, names } = await open({ kind: 'url', url: server.url })
    const logged = () => names('key-set-away', 'key-set-back')
    reply.status = 500
    await until(() => logged().length === 1)
    expect(await codeOf(keySet, await one.token())).toBe('ok')
    expect(await codeOf(keySet, await other.token())).toBe('TOKEN_KEY_UNKNOWN')
    Object.assign(reply, { status: 200, body: setOf(one.jwk, other.jwk) })
    await until(() => logged().length === 2)
    expect(await codeOf(keySet, await other.token())).toBe('ok')
    keySet.close()
    server.close()
  })

  test('that is unavailable at the start has its tokens refused until it responds', async () => {
    const one = await issuerKey('EdDSA', 'one')
    const reply = { status: 503, body: '' }
    const server = await serve(reply)
    const { keySet } = await open({ kind: 'url', url: server.url })
    expect(await codeOf(keySet, await one.token())).toBe('TOKEN_KEY_UNKNOWN')
    Object.assign(reply, { status: 200, body: setOf(one.jwk) })
    expect(await codeOf(keySet, await one.token())).toBe('ok')
    keySet.close()
    server.close()
  })

  test('that redirects is not read at the other address', async () => {
    const one = await issuerKey('EdDSA', 'one')
    const other = await serve({ status: 200, body: setOf(one.jwk) })
    const server = createServer((_request, response) => {
      response.writeHead(302, { location: other.url }).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const { keySet, names } = await open({ kind: 'url', url })
    expect(await codeOf(keySet, await one.token())).toBe('TOKEN_KEY_UNKNOWN')
    expect(names('key-set-away')).toEqual(['key-set-away'])
    keySet.close()
    server.close()
    other.close()
  })

  test('is not read for each token with an invented key id', async () => {
    const one = await issuerKey('EdDSA', 'one')
    let requests = 0
    const server = createServer((_request, response) => {
      requests++
      response.end(setOf(one.jwk))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const keySet = unwrap(await openKeySet({ kind: 'url', url }, createMemoryLog().log))
    for (let i = 0; i < 20; i++) {
      expect(await codeOf(keySet, await one.token({ kid: `k${i}` }))).toBe('TOKEN_KEY_UNKNOWN')
    }
    expect(requests).toBe(1)
    keySet.close()
    server.close()
  })
})
