import { createHmac, createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, type Credentials, callerOf } from '../../src/api/auth.ts'
import type { SigningKey } from '../../src/api/signing-key.ts'
import { issueToken } from '../../src/api/token.ts'
import { createSettableClock } from '../../src/lib/clock.ts'

const nowSeconds = 1_800_000_000
const clock = createSettableClock(BigInt(nowSeconds) * 1_000_000_000n)
const edKey = newEdKey()
const secretKey = newSecretKey()
const tokens = new Map<string, string>()

beforeAll(async () => {
  const claims = { permissions: { write: {} } }
  const made = {
    good: await issueToken(edKey, request(['chain-record:write'])),
    'without scope': await issueToken(edKey, request([])),
    'by scope alone': await sign(edKey, { scope: 'read chain-record:write', sub: 'a' }),
    'by permission alone': await sign(edKey, { ...claims, sub: 'a' }),
    'without subject': await sign(edKey, claims),
    'with another permission': await sign(edKey, { permissions: { read: {} }, scope: 'writer' }),
    'with a permission inherited': await sign(edKey, { permissions: [], scope: 7 }),
    expired: await sign(edKey, { ...claims, exp: nowSeconds - 1 }),
    'expiring now': await sign(edKey, { ...claims, exp: nowSeconds }),
    'expiring in a second': await sign(edKey, { ...claims, exp: nowSeconds + 1 }),
    'not yet valid': await sign(edKey, { ...claims, nbf: nowSeconds + 60 }),
    'with an expiry that is text': await sign(edKey, { ...claims, exp: 'never' }),
    'that ended before there were dates': await sign(edKey, { ...claims, exp: -1e15 }),
    'whose subject is a number': await sign(edKey, { ...claims, sub: 7 }),
    'whose subject is an object': await sign(edKey, { ...claims, sub: { name: 'a' } }),
    'whose subject is a list': await sign(edKey, { ...claims, sub: ['a'] }),
    'whose subject is null': await sign(edKey, { ...claims, sub: null }),
    'whose subject has a NUL': await sign(edKey, { ...claims, sub: 'a\u0000' }),
    'whose subject has half a letter': await sign(edKey, { ...claims, sub: '\ud800' }),
    'by another key': await sign(newEdKey(), claims),
    'by a secret': await sign(secretKey, claims),
    'by another secret': await sign(newSecretKey(), claims),
    unsigned: `${part({ alg: 'none' })}.${part(claims)}.`,
    'unsigned in capitals': `${part({ alg: 'NONE' })}.${part(claims)}.`,
    // The old trick: the public key, which everybody may know, taken for the secret of an HMAC.
    'by the public key as a secret': hmacByPublicKey(claims),
    'with an extension that must be understood': `${part({ alg: 'EdDSA', crit: ['x'], x: 1 })}.${part(claims)}.AA`,
    'without algorithm': `${part({})}.${part(claims)}.AA`,
    'that is no JSON': 'AAAA.AAAA.AAAA',
    'of two parts': 'AAAA.AAAA',
    'of words': 'open sesame',
  }
  for (const [name, token] of Object.entries(made)) tokens.set(name, token)
})

describe('tokens signed with the key file', () => {
  const rows = [
    ['good', 'ok'],
    ['by scope alone', 'ok'],
    ['by permission alone', 'ok'],
    ['without subject', 'ok'],
    ['expiring in a second', 'ok'],
    ['without scope', 'PERMISSION_MISSING'],
    ['with another permission', 'PERMISSION_MISSING'],
    ['with a permission inherited', 'PERMISSION_MISSING'],
    ['expired', 'TOKEN_EXPIRED'],
    ['expiring now', 'TOKEN_EXPIRED'],
    ['not yet valid', 'TOKEN_NOT_YET_VALID'],
    ['with an expiry that is text', 'TOKEN_MALFORMED'],
    ['that ended before there were dates', 'TOKEN_MALFORMED'],
    ['whose subject is a number', 'TOKEN_MALFORMED'],
    ['whose subject is an object', 'TOKEN_MALFORMED'],
    ['whose subject is a list', 'TOKEN_MALFORMED'],
    ['whose subject is null', 'TOKEN_MALFORMED'],
    ['whose subject has a NUL', 'TOKEN_MALFORMED'],
    ['whose subject has half a letter', 'TOKEN_MALFORMED'],
    ['by another key', 'TOKEN_SIGNATURE_INVALID'],
    ['by a secret', 'TOKEN_ALGORITHM_REFUSED'],
    ['by the public key as a secret', 'TOKEN_ALGORITHM_REFUSED'],
    ['unsigned', 'TOKEN_UNSIGNED'],
    ['unsigned in capitals', 'TOKEN_UNSIGNED'],
    ['with an extension that must be understood', 'TOKEN_MALFORMED'],
    ['without algorithm', 'TOKEN_MALFORMED'],
    ['that is no JSON', 'TOKEN_MALFORMED'],
    ['of two parts', 'TOKEN_MALFORMED'],
    ['of words', 'TOKEN_MALFORMED'],
  ] as const
  test.each(rows)('%s: %s', async (name, code) => {
    const caller = callerOf({ key: edKey, clock }, { authorization: tokenNamed(name) })
    expect(await codeOf(caller)).toBe(code)
  })
})

describe('tokens signed with a secret', () => {
  const rows = [
    ['by a secret', 'ok'],
    ['by another secret', 'TOKEN_SIGNATURE_INVALID'],
    ['good', 'TOKEN_ALGORITHM_REFUSED'],
    ['unsigned', 'TOKEN_UNSIGNED'],
  ] as const
  test.each(rows)('%s: %s', async (name, code) => {
    const caller = callerOf({ key: secretKey, clock }, { authorization: tokenNamed(name) })
    expect(await codeOf(caller)).toBe(code)
  })
})

describe('where a token may stand', () => {
  const rows: readonly (readonly [string, (token: string) => Credentials, string])[] = [
    ['bare', (token) => ({ authorization: token }), 'ok'],
    ['after Bearer', (token) => ({ authorization: `Bearer ${token}` }), 'ok'],
    ['after bearer', (token) => ({ authorization: `bearer   ${token} ` }), 'ok'],
    ['in the cookie', (token) => ({ cookie: `jwt=${token}` }), 'ok'],
    ['among cookies', (token) => ({ cookie: `a=b; jwt=${token}; c=d` }), 'ok'],
    ['in another cookie', (token) => ({ cookie: `xjwt=${token}` }), 'TOKEN_MISSING'],
    ['nowhere', () => ({}), 'TOKEN_MISSING'],
    ['in an empty header', () => ({ authorization: ' ' }), 'TOKEN_MISSING'],
    ['after nothing but Bearer', () => ({ authorization: 'Bearer' }), 'TOKEN_MISSING'],
    ['in an empty cookie', () => ({ cookie: 'jwt=' }), 'TOKEN_MISSING'],
    ['after Basic', (token) => ({ authorization: `Basic ${token}` }), 'TOKEN_MALFORMED'],
    [
      'in the cookie under a bad header',
      (token) => ({ authorization: 'x', cookie: `jwt=${token}` }),
      'TOKEN_MALFORMED',
    ],
  ]
  test.each(rows)('%s', async (_name, credentials, code) => {
    const caller = callerOf({ key: edKey, clock }, credentials(tokenNamed('good')))
    expect(await codeOf(caller)).toBe(code)
  })
})

describe('who it is', () => {
  test('the subject', async () => {
    expect(await nameOf('good')).toBe('test')
  })

  test('the fingerprint where there is no subject, and not the token', async () => {
    expect(await nameOf('without subject')).toMatch(/^token-[0-9a-f]{16}$/)
  })

  test('a token without the permission still tells who it is', async () => {
    expect(await nameOf('without scope')).toBe('test')
  })
})

function request(scopes: readonly 'chain-record:write'[]) {
  return { subject: 'test', scopes, lifetimeSeconds: 60, nowMs: nowSeconds * 1_000 }
}

function newEdKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { algorithm: 'EdDSA', sign: privateKey, verify: publicKey }
}

function newSecretKey(): SigningKey {
  const key = createSecretKey(randomBytes(32))
  return { algorithm: 'HS256', sign: key, verify: key }
}

function sign({ algorithm, sign: key }: SigningKey, claims: object): Promise<string> {
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: algorithm }).sign(key)
}

function hmacByPublicKey(claims: object): string {
  const signed = `${part({ alg: 'HS256' })}.${part(claims)}`
  const secret = edKey.verify.export({ type: 'spki', format: 'pem' })
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function tokenNamed(name: string): string {
  const token = tokens.get(name)
  if (token === undefined) throw new Error(`no token ${name}`)
  return token
}

async function codeOf(caller: Caller): Promise<string> {
  const identity = await caller.requireWrite()
  return identity.ok ? 'ok' : identity.error.code
}

async function nameOf(token: string): Promise<string | undefined> {
  const caller = callerOf({ key: edKey, clock }, { authorization: tokenNamed(token) })
  const identity = await caller.identify()
  return identity.ok ? identity.value.name : undefined
}
