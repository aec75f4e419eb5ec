import { createHmac, createSecretKey, generateKeyPairSync, hash, randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, type Credentials, callerOf } from '../../src/api/tokens/auth.ts'
import type { SigningKey } from '../../src/api/tokens/signing-key.ts'
import { issueToken, openRules, type TokenRules } from '../../src/api/tokens/token.ts'
import { createListeners } from '../../src/lib/listeners.ts'
import { createSettableClock } from '../support/settable-clock.ts'

const nowSeconds = 1_800_000_000
const clock = createSettableClock(BigInt(nowSeconds) * 1_000_000_000n)
const edKey = newEdKey()
const secretKey = newSecretKey()
const tokens = new Map<string, string>()

beforeAll(async () => {
  const claims = { permissions: { write: {} } }
  const tokenByName = {
    good: await issueToken(edKey, request(['chain-record:write'])),
    'without scope': await issueToken(edKey, request([])),
    'by scope alone': await sign(edKey, { scope: 'read chain-record:write', sub: 'a' }),
    'by permission alone': await sign(edKey, { ...claims, sub: 'a' }),
    'without subject': await sign(edKey, claims),
    'with another permission': await sign(edKey, { permissions: { read: {} }, scope: 'writer' }),
    'with a list of permissions': await sign(edKey, { permissions: [], scope: 7 }),
    expired: await sign(edKey, { ...claims, exp: nowSeconds - 1 }),
    'expiring now': await sign(edKey, { ...claims, exp: nowSeconds }),
    'expiring in a second': await sign(edKey, { ...claims, exp: nowSeconds + 1 }),
    'not yet valid': await sign(edKey, { ...claims, nbf: nowSeconds + 60 }),
    'with an expiry that is text': await sign(edKey, { ...claims, exp: 'never' }),
    'with an expiry before the range of dates': await sign(edKey, { ...claims, exp: -1e15 }),
    'whose subject is a number': await sign(edKey, { ...claims, sub: 7 }),
    'whose subject is an object': await sign(edKey, { ...claims, sub: { name: 'a' } }),
    'whose subject is a list': await sign(edKey, { ...claims, sub: ['a'] }),
    'whose subject is null': await sign(edKey, { ...claims, sub: null }),
    'whose subject has a NUL': await sign(edKey, { ...claims, sub: 'a\u0000' }),
    'whose subject has a lone surrogate': await sign(edKey, { ...claims, sub: '\ud800' }),
    'whose subject has a direction override': await sign(edKey, { ...claims, sub: 'a\u202eb' }),
    'whose subject has a line separator': await sign(edKey, { ...claims, sub: 'a\u2028b' }),
    'whose subject is empty': await sign(edKey, { ...claims, sub: '' }),
    'whose subject has 256 characters': await sign(edKey, { ...claims, sub: '𝓪'.repeat(256) }),
    'whose subject has 257 characters': await sign(edKey, { ...claims, sub: 'a'.repeat(257) }),
    'whose id is a number': await sign(edKey, { ...claims, jti: 7 }),
    'whose permission is false': await sign(edKey, { permissions: { write: false } }),
    'whose permission is null': await sign(edKey, { permissions: { write: null } }),
    'whose permission is text': await sign(edKey, { permissions: { write: 'false' } }),
    'whose permission is true': await sign(edKey, { permissions: { write: true } }),
    'whose scopes are a list': await sign(edKey, { scope: ['chain-record:write'] }),
    'whose scope only begins like the required one': await sign(edKey, {
      scope: 'chain-record:writer',
    }),
    'of 17,000 characters': await sign(edKey, { ...claims, note: 'x'.repeat(12_750) }),
    'by another key': await sign(newEdKey(), claims),
    'by a secret': await sign(secretKey, claims),
    'by another secret': await sign(newSecretKey(), claims),
    unsigned: `${part({ alg: 'none' })}.${part(claims)}.`,
    'unsigned in capitals': `${part({ alg: 'NONE' })}.${part(claims)}.`,
    // A known attack: the public key, which everybody may know, is used as the secret of an HMAC.
    'by the public key as a secret': hmacByPublicKey(claims),
    'with an unknown critical extension': `${part({ alg: 'EdDSA', crit: ['x'], x: 1 })}.${part(claims)}.AA`,
    'without algorithm': `${part({})}.${part(claims)}.AA`,
    'that is no JSON': 'AAAA.AAAA.AAAA',
    'of two parts': 'AAAA.AAAA',
    'of two words': 'open sesame',
  }
  for (const [name, token] of Object.entries(tokenByName)) tokens.set(name, token)
})

describe('tokens checked with the key file', () => {
  const rows = [
    ['good', 'ok'],
    ['by scope alone', 'ok'],
    ['by permission alone', 'ok'],
    ['without subject', 'ok'],
    ['expiring in a second', 'ok'],
    ['without scope', 'PERMISSION_MISSING'],
    ['with another permission', 'PERMISSION_MISSING'],
    ['with a list of permissions', 'PERMISSION_MISSING'],
    ['expired', 'TOKEN_EXPIRED'],
    ['expiring now', 'TOKEN_EXPIRED'],
    ['not yet valid', 'TOKEN_NOT_YET_VALID'],
    ['with an expiry that is text', 'TOKEN_MALFORMED'],
    ['with an expiry before the range of dates', 'TOKEN_MALFORMED'],
    ['whose subject is a number', 'TOKEN_SUBJECT_INVALID'],
    ['whose subject is an object', 'TOKEN_SUBJECT_INVALID'],
    ['whose subject is a list', 'TOKEN_SUBJECT_INVALID'],
    ['whose subject is null', 'TOKEN_SUBJECT_INVALID'],
    ['whose subject has a NUL', 'TOKEN_SUBJECT_INVALID'],
    ['whose subject has a lone surrogate', 'TOKEN_SUBJECT_INVALID'],
    ['whose subject has a direction override', 'TOKEN_SUBJECT_INVALID'],
    ['whose subject has a line separator', 'TOKEN_SUBJECT_INVALID'],
    ['whose subject is empty', 'TOKEN_SUBJECT_INVALID'],
    ['whose subject has 256 characters', 'ok'],
    ['whose subject has 257 characters', 'TOKEN_SUBJECT_INVALID'],
    ['whose id is a number', 'TOKEN_MALFORMED'],
    ['whose permission is false', 'PERMISSION_MISSING'],
    ['whose permission is null', 'PERMISSION_MISSING'],
    ['whose permission is text', 'PERMISSION_MISSING'],
    ['whose permission is true', 'ok'],
    ['whose scopes are a list', 'PERMISSION_MISSING'],
    ['whose scope only begins like the required one', 'PERMISSION_MISSING'],
    ['of 17,000 characters', 'TOKEN_MALFORMED'],
    ['by another key', 'TOKEN_SIGNATURE_INVALID'],
    ['by a secret', 'TOKEN_ALGORITHM_REFUSED'],
    ['by the public key as a secret', 'TOKEN_ALGORITHM_REFUSED'],
    ['unsigned', 'TOKEN_UNSIGNED'],
    ['unsigned in capitals', 'TOKEN_UNSIGNED'],
    ['with an unknown critical extension', 'TOKEN_MALFORMED'],
    ['without algorithm', 'TOKEN_MALFORMED'],
    ['that is no JSON', 'TOKEN_MALFORMED'],
    ['of two parts', 'TOKEN_MALFORMED'],
    ['of two words', 'TOKEN_MALFORMED'],
  ] as const
  test.each(rows)('%s: %s', async (name, code) => {
    const caller = callerOf({ key: edKey, clock }, { authorization: tokenNamed(name) })
    expect(await codeOf(caller)).toBe(code)
  })
})

describe('tokens checked with a secret', () => {
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

describe('tokens checked with a key of P-256', () => {
  const ecKey = newEcKey()
  const code = async (token: string) =>
    codeOf(callerOf({ key: ecKey, clock }, { authorization: token }))
  test('are accepted with that algorithm only', async () => {
    expect(await code(await sign(ecKey, { permissions: { write: {} } }))).toBe('ok')
    expect(await code(await sign(newEcKey(), {}))).toBe('TOKEN_SIGNATURE_INVALID')
    expect(await code(tokenNamed('good'))).toBe('TOKEN_ALGORITHM_REFUSED')
  })
})

describe('the rules of an operator for tokens', () => {
  const operatorRules = { ...openRules, issuer: 'https://id.example', audience: 'gateway' }
  const good = { iss: 'https://id.example', aud: ['other', 'gateway'], scope: 'chain-record:write' }
  const until = (exp: number) => ({ ...good, exp: nowSeconds + exp })
  const since = (iat: number, more = {}) => ({ ...good, iat: nowSeconds + iat, ...more })
  const rows: readonly (readonly [string, Partial<TokenRules>, object, string])[] = [
    ['issuer and audience', {}, good, 'ok'],
    ['another issuer', {}, { ...good, iss: 'https://id.example/' }, 'TOKEN_ISSUER_REFUSED'],
    ['no issuer', {}, { ...good, iss: undefined }, 'TOKEN_ISSUER_REFUSED'],
    ['a list of issuers', {}, { ...good, iss: [good.iss] }, 'TOKEN_ISSUER_REFUSED'],
    ['another audience', {}, { ...good, aud: 'gateways' }, 'TOKEN_AUDIENCE_REFUSED'],
    ['no audience', {}, { ...good, aud: undefined }, 'TOKEN_AUDIENCE_REFUSED'],
    ['no expiry', { mustExpire: true }, good, 'TOKEN_CLAIM_MISSING'],
    ['an expiry', { mustExpire: true }, until(1), 'ok'],
    ['an expiry just outside the leeway', { leewaySeconds: 5 }, until(-5), 'TOKEN_EXPIRED'],
    ['an expiry within the leeway', { leewaySeconds: 5 }, until(-4), 'ok'],
    [
      'a start of validity within the leeway',
      { leewaySeconds: 5 },
      { ...good, nbf: nowSeconds + 5 },
      'ok',
    ],
    [
      'a start of validity in the future',
      {},
      { ...good, nbf: nowSeconds + 5 },
      'TOKEN_NOT_YET_VALID',
    ],
    [
      'more than the maximum age',
      { maxAgeSeconds: 60 },
      since(-61, { exp: nowSeconds + 9 }),
      'TOKEN_EXPIRED',
    ],
    ['just below the maximum age', { maxAgeSeconds: 60 }, since(-59), 'ok'],
    ['an unknown age', { maxAgeSeconds: 60 }, until(9), 'TOKEN_CLAIM_MISSING'],
    ['a time of issue in the future', { maxAgeSeconds: 60 }, since(30), 'TOKEN_NOT_YET_VALID'],
  ]
  test.each(rows)('%s', async (_name, rules, claims, code) => {
    const authorization = await sign(edKey, claims)
    const deps = { key: edKey, clock, rules: { ...operatorRules, ...rules } }
    expect(await codeOf(callerOf(deps, { authorization }))).toBe(code)
  })

  test('a connection ends at the maximum age of its token, although the token has no expiry', async () => {
    const authorization = await sign(edKey, since(-10))
    const rules = { ...operatorRules, maxAgeSeconds: 60, leewaySeconds: 2 }
    const identity = await callerOf({ key: edKey, clock, rules }, { authorization }).identify()
    expect(identity.ok && identity.value.expiresAt).toBe(nowSeconds + 52)
  })
})

test('an expiry with a fraction is rounded down to whole seconds, as in its notices', async () => {
  const authorization = await sign(edKey, { exp: nowSeconds + 10.5 })
  const identity = await callerOf({ key: edKey, clock }, { authorization }).identify()
  expect(identity.ok && identity.value.expiresAt).toBe(nowSeconds + 10)
})

test('a caller with an open connection loses its rights when its token expires or is revoked', async () => {
  const movingClock = createSettableClock(clock.nowNs())
  const revoked = new Set<string | undefined>()
  const changes = createListeners<void>()
  const revocations = {
    isRevoked: ({ id }: { id: string | undefined }) => revoked.has(id),
    changes,
  }
  const connect = async (claims: object) =>
    callerOf(
      { key: edKey, clock: movingClock, revocations },
      { authorization: await sign(edKey, { scope: 'chain-record:write block:submit', ...claims }) },
    )
  const [ending, named] = [await connect({ exp: nowSeconds + 5 }), await connect({ jti: 'one' })]
  expect([await codeOf(ending), await codeOf(named), await named.canSubmit()]).toEqual([
    'ok',
    'ok',
    true,
  ])
  movingClock.advance(5_000_000_000n)
  revoked.add('one')
  expect([await codeOf(ending), await codeOf(named)]).toEqual(['TOKEN_EXPIRED', 'TOKEN_REVOKED'])
  expect([await named.canSubmit(), await named.rights()]).toEqual([false, 'read'])
})

describe('permission to submit blocks', () => {
  const rows = [
    [
      'with a token without scopes, as other issuers make them',
      { permissions: { write: {} } },
      true,
    ],
    ['with a token for it', { scope: 'read block:submit' }, true],
    ['not with a token of another scope', { scope: 'chain-record:write' }, false],
    ['not with a token of an empty scope', { scope: '' }, false],
    ['not with a token whose scopes are a list', { scope: ['block:submit'] }, false],
  ] as const
  test.each(rows)('%s', async (_name, claims, canSubmit) => {
    const authorization = await sign(edKey, claims)
    expect(await callerOf({ key: edKey, clock }, { authorization }).canSubmit()).toBe(canSubmit)
  })
})

describe('the place of a token in a request', () => {
  const rows: readonly (readonly [string, (token: string) => Credentials, string])[] = [
    ['in the header without Bearer', (token) => ({ authorization: token }), 'ok'],
    ['after Bearer', (token) => ({ authorization: `Bearer ${token}` }), 'ok'],
    ['after bearer', (token) => ({ authorization: `bearer   ${token} ` }), 'ok'],
    ['in the cookie', (token) => ({ cookie: `jwt=${token}` }), 'ok'],
    ['among cookies', (token) => ({ cookie: `a=b; jwt=${token}; c=d` }), 'ok'],
    ['in another cookie', (token) => ({ cookie: `xjwt=${token}` }), 'TOKEN_MISSING'],
    ['nowhere', () => ({}), 'TOKEN_MISSING'],
    ['in an empty header', () => ({ authorization: ' ' }), 'TOKEN_MISSING'],
    ['in a header with Bearer alone', () => ({ authorization: 'Bearer' }), 'TOKEN_MISSING'],
    ['in an empty cookie', () => ({ cookie: 'jwt=' }), 'TOKEN_MISSING'],
    ['after Basic', (token) => ({ authorization: `Basic ${token}` }), 'TOKEN_MALFORMED'],
    [
      'in the cookie beside a malformed header',
      (token) => ({ authorization: 'x', cookie: `jwt=${token}` }),
      'TOKEN_MALFORMED',
    ],
  ]
  test.each(rows)('%s', async (_name, credentials, code) => {
    const caller = callerOf({ key: edKey, clock }, credentials(tokenNamed('good')))
    expect(await codeOf(caller)).toBe(code)
  })
})

describe('the name of a caller', () => {
  test('is the subject of its token', async () => {
    expect(await nameOf('good')).toBe('test')
  })

  test('is the fingerprint of a token without subject, and not the token itself', async () => {
    expect(await nameOf('without subject')).toMatch(/^token-[0-9a-f]{16}$/)
  })

  test('without subject stays the same when the holder rewrites the signature', async () => {
    const token = tokenNamed('without subject')
    const unusedBits =
      token.slice(0, -1) + String.fromCharCode(token.charCodeAt(token.length - 1) + 1)
    const spaced = `${token.slice(0, -5)} ${token.slice(-5)}`
    const name = await nameOf('without subject')
    for (const authorization of [unusedBits, spaced]) {
      const identity = await callerOf({ key: edKey, clock }, { authorization }).identify()
      expect(identity.ok ? identity.value.name : name).toBe(name)
    }
  })

  test('without subject is revoked also by the fingerprint of the whole token, as former versions wrote it', async () => {
    const authorization = tokenNamed('without subject')
    const former = `token-${hash('sha256', authorization).slice(0, 16)}`
    const isRevoked = ({ name }: { name: string }) => name === former
    const revocations = { isRevoked, changes: createListeners<void>() }
    const caller = callerOf({ key: edKey, clock, revocations }, { authorization })
    expect(await codeOf(caller)).toBe('TOKEN_REVOKED')
  })

  test('is known without the permission as well', async () => {
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

function newEcKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return { algorithm: 'ES256', sign: privateKey, verify: publicKey }
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
