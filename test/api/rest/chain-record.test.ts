import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scope, verifyToken } from '../../../src/api/tokens/token.ts'
import { addressText, chainIdOf } from '../../support/chain-ids.ts'
import { rest } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const record = { accessNodes: ['0x00ff', 'https://node.example:14265'], isActive: true }

describe('a record is saved', () => {
  test('and returned with its version and the name of the caller', async () => {
    const chainId = chainIdOf(1)
    const response = await post(chainId, record)
    expect(response.status).toBe(201)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await response.json()).toEqual({
      chainID: chainId,
      ...record,
      version: 1,
      setBy: 'test',
      setAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })
  })

  test('in place of the whole former record', async () => {
    await post(chainIdOf(2), record)
    const response = await post(chainIdOf(2), { accessNodes: [], isActive: false })
    expect(await response.json()).toMatchObject({ accessNodes: [], isActive: false, version: 2 })
  })

  const rows: readonly (readonly [string, string, unknown])[] = [
    ['of an account', addressText(8, 3), record],
    ['of an anchor', addressText(24, 3), record],
    ['with any human-readable part', addressText(8, 4, { hrp: 'iota' }), record],
    ['with a chain id in upper case', chainIdOf(5).toUpperCase(), record],
    ['with unknown members', chainIdOf(6), { ...record, accessNode: 1 }],
    ['with the maximum number of nodes', chainIdOf(7), { ...record, accessNodes: nodes(1000) }],
    ['with the longest node', chainIdOf(8), { ...record, accessNodes: ['🙂'.repeat(256)] }],
    ['with the same node twice', chainIdOf(9), { ...record, accessNodes: ['a', 'a'] }],
  ]
  test.each(rows)('%s', async (_name, chainId, body) => {
    const response = await post(chainId, body)
    expect(response.status).toBe(201)
    const { accessNodes } = body as typeof record
    expect(await response.json()).toMatchObject({ chainID: chainId.toLowerCase(), accessNodes })
  })

  test('with parameters after the content type', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' }
    expect((await post(chainIdOf(10), record, headers)).status).toBe(201)
  })
})

describe('the chain id is refused', () => {
  const rows = [
    ['an Ed25519 address', addressText(0, 1)],
    ['an NFT address', addressText(16, 1)],
    ['an implicit account creation address', addressText(32, 1)],
    ['a multi address', addressText(40, 1)],
    ['too few bytes', addressText(8, 1, { length: 31 })],
    ['too many bytes', addressText(8, 1, { length: 33 })],
    ['hex', `0x08${'00'.repeat(32)}`],
    ['a wrong checksum', `${chainIdOf(1).slice(0, -1)}q`],
    ['mixed case', chainIdOf(1).replace('tst', 'Tst')],
    ['text that is not Bech32', 'chain'],
  ]
  test.each(rows)('%s', async (_name, chainId) => {
    const response = await post(chainId, record)
    expect(await errorOf(response)).toEqual([400, expect.stringMatching(/^chainID: /)])
  })
})

describe('the body is refused, and the message names the member', () => {
  const rows: readonly (readonly [string, unknown, string])[] = [
    ['accessNodes missing', { isActive: true }, 'accessNodes: '],
    ['isActive missing', { accessNodes: [] }, 'isActive: '],
    ['accessNodes as text', { ...record, accessNodes: 'a' }, 'accessNodes: '],
    ['accessNodes as null', { ...record, accessNodes: null }, 'accessNodes: '],
    ['accessNodes as an object', { ...record, accessNodes: {} }, 'accessNodes: '],
    ['a number in the list', { ...record, accessNodes: ['a', 1] }, 'accessNodes.1: '],
    ['an empty node', { ...record, accessNodes: [''] }, 'accessNodes.0: '],
    ['a node too long', { ...record, accessNodes: ['a'.repeat(257)] }, 'accessNodes.0: '],
    ['a control character', { ...record, accessNodes: ['a\u0000'] }, 'accessNodes.0: '],
    ['a later control character', { ...record, accessNodes: ['\u0085'] }, 'accessNodes.0: '],
    ['a lone surrogate', { ...record, accessNodes: ['\ud83d'] }, 'accessNodes.0: '],
    ['one node too many', { ...record, accessNodes: nodes(1001) }, 'accessNodes: '],
    ['isActive as text', { ...record, isActive: 'true' }, 'isActive: '],
    ['isActive as a number', { ...record, isActive: 1 }, 'isActive: '],
    ['isActive as null', { ...record, isActive: null }, 'isActive: '],
    ['a list', [record], 'body: '],
    ['null', null, 'body: '],
    ['a text', 'record', 'body: '],
  ]
  test.each(rows)('%s', async (_name, body, start) => {
    const [status, message] = await errorOf(await post(chainIdOf(20), body))
    expect(status).toBe(400)
    expect(message.startsWith(start)).toBe(true)
  })

  const texts: readonly (readonly [string, BodyInit])[] = [
    ['no bytes', ''],
    ['half an object', '{"accessNodes":'],
    ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
  ]
  test.each(texts)('%s', async (_name, body) => {
    const [status, message] = await errorOf(await postText(chainIdOf(20), body))
    expect([status, message.slice(0, 14)]).toEqual([400, 'body: not JSON'])
  })

  const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']
  test.each(types)('as %s', async (type) => {
    const response = await post(chainIdOf(20), record, { 'content-type': type })
    expect(await errorOf(response)).toEqual([
      400,
      `Content-Type: expected application/json, not ${type}`,
    ])
  })

  test('longer than the limit, also without Content-Length: 413', async () => {
    const long = JSON.stringify({ ...record, padding: 'x'.repeat(1_048_576) })
    const [status] = await errorOf(await postText(chainIdOf(20), long))
    const stream = new Blob([long]).stream()
    const [streamed] = await errorOf(await postText(chainIdOf(20), stream))
    expect([status, streamed]).toEqual([413, 413])
  })

  test('with more values than JSON may have', async () => {
    const body = { ...record, padding: Array.from({ length: 24_577 }, () => 0) }
    const [status, message] = await errorOf(await post(chainIdOf(20), body))
    expect([status, message.slice(0, 28)]).toEqual([400, 'body: more than 24576 values'])
  })

  test('and nothing of it is saved', async () => {
    const response = await post(chainIdOf(20), record)
    expect(await response.json()).toMatchObject({ version: 1 })
  })
})

describe('the token', () => {
  const rows = [
    ['missing', async () => ({}), 401],
    ['malformed', async () => ({ authorization: 'nonsense' }), 401],
    ['whose subject is not text', () => signed({ sub: { name: 'a' } }), 401],
    ['whose subject has a NUL', () => signed({ sub: 'a\u0000' }), 401],
    ['without the permission', () => bearer('block:submit'), 403],
    ['with the permission, after Bearer', () => bearer('chain-record:write'), 201],
    ['with the permission, without Bearer', () => bare('chain-record:write'), 201],
    ['with the permission, as cookie', () => cookie('chain-record:write'), 201],
  ] as const
  test.each(rows)('%s', async (_name, headers, status) => {
    const response = await postText(chainIdOf(30), JSON.stringify(record), await headers())
    expect(response.status).toBe(status)
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
  })

  test('is checked before the chain id, and the chain id before the body', async () => {
    const nothing = await postText('nonsense', 'nonsense', {})
    const allowed = await postText('nonsense', 'nonsense')
    expect(nothing.status).toBe(401)
    expect(await errorOf(allowed)).toEqual([400, expect.stringMatching(/^chainID: /)])
  })

  test('is never logged', async () => {
    const token = await gateway.token('chain-record:write')
    await postText(chainIdOf(31), '{', { authorization: token })
    expect(gateway.logged.filter((line) => line.includes(token))).toEqual([])
    expect((await verifyToken(gateway, token, Date.now())).ok).toBe(true)
  })
})

async function post(
  chainId: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return postText(chainId, JSON.stringify(body), {
    ...(await bearer('chain-record:write')),
    ...headers,
  })
}

// Node requires this for a body without a length, and its types lack it.
const streaming = { duplex: 'half' }

async function postText(
  chainId: string,
  body: BodyInit,
  headers?: Record<string, string>,
): Promise<Response> {
  return rest(`${gateway.url}/v1/chains/${chainId}/chainrecord`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(headers ?? (await bearer('chain-record:write'))),
    },
    body,
    ...streaming,
  })
}

async function bearer(...scopes: Scope[]) {
  return { authorization: `Bearer ${await gateway.token(...scopes)}` }
}

async function bare(...scopes: Scope[]) {
  return { authorization: await gateway.token(...scopes) }
}

async function signed(claims: object) {
  const token = new SignJWT({ permissions: { write: {} }, ...claims })
  return {
    authorization: await token
      .setProtectedHeader({ alg: gateway.key.algorithm })
      .sign(gateway.key.sign),
  }
}

async function cookie(...scopes: Scope[]) {
  return { cookie: `other=1; jwt=${await gateway.token(...scopes)}` }
}

async function errorOf(response: Response): Promise<[number, string]> {
  const { error } = await response.json()
  expect(error.code).toBe(response.status)
  return [response.status, error.message]
}

function nodes(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `node-${i}`)
}
