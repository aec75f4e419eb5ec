import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openRevocations } from '../../src/api/tokens/revocations.ts'
import { issueToken } from '../../src/api/tokens/token.ts'
import { nowMs, systemClock } from '../../src/lib/clock.ts'
import { chainIdOf } from '../support/chain-ids.ts'
import { createMemoryLog } from '../support/memory-log.ts'
import { rest } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'

/** Revoked tokens, of requests and of open connections. */

const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-revoked-'))
const path = join(folder, 'revoked.txt')
let gateway: TestGateway

beforeAll(async () => {
  writeFileSync(path, '# none yet\n')
  gateway = await startGateway({ env: { JWT_REVOCATIONS: path } })
})
afterAll(async () => {
  await gateway.close()
  rmSync(folder, { recursive: true })
})

const tokenOf = (subject: string) =>
  issueToken(gateway.key, {
    subject,
    scopes: ['chain-record:write'],
    lifetimeSeconds: 3_600,
    nowMs: nowMs(systemClock),
  })

const saveRecord = async (authorization: string) =>
  (
    await rest(`${gateway.url}/v1/chains/${chainIdOf(71)}/chainrecord`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"accessNodes":[],"isActive":true}',
    })
  ).status

/** Opens a WebSocket with a valid token; `closed` returns why it was closed. */
async function socketOf(authorization: string): Promise<{ closed: () => string | undefined }> {
  const socket = new WebSocket(
    `${gateway.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  )
  let closed: string | undefined
  let isReady = false
  socket.on('open', () =>
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } })),
  )
  socket.on('message', () => {
    isReady = true
  })
  socket.on('close', (code, reason) => {
    closed = `${code} ${reason}`
  })
  await until(() => isReady, { what: 'the connection is acknowledged' })
  return { closed: () => closed }
}

async function streamOf(authorization: string): Promise<{ isOver: () => boolean }> {
  const query = new URLSearchParams({ query: 'subscription { ledgerUpdates { __typename } }' })
  const headers = { accept: 'text/event-stream', authorization }
  const { body, status } = await fetch(`${gateway.url}/graphql?${query}`, { headers })
  expect(status).toBe(200)
  let isOver = false
  const reading = async () => {
    for await (const _ of body ?? []);
    isOver = true
  }
  void reading()
  return { isOver: () => isOver }
}

describe.each([
  ['by its id', (token: string) => `jti ${decodeJwt(token).jti}`],
  ['by its subject', (token: string) => `sub ${decodeJwt(token).sub}`],
])('a token revoked %s', (name, lineOf) => {
  test('is no longer valid, and its connections end', async () => {
    const token = await tokenOf(`alice ${name}`)
    const other = await tokenOf('bob')
    expect(await saveRecord(token)).toBeLessThan(300)
    const [socket, stream] = [await socketOf(token), await streamOf(token)]
    const [otherSocket, otherStream] = [await socketOf(other), await streamOf(other)]
    appendFileSync(path, `${lineOf(token)}\n`)
    await until(() => socket.closed() !== undefined && stream.isOver())
    expect(socket.closed()).toBe('4403 TOKEN_REVOKED')
    expect(await saveRecord(token)).toBe(401)
    expect([otherSocket.closed(), otherStream.isOver()]).toEqual([undefined, false])
    expect(await saveRecord(other)).toBeLessThan(300)
  })
})

test('a token without a subject is revoked by the fingerprint in its records', async () => {
  const own = join(folder, 'own.txt')
  writeFileSync(own, 'sub token-0123456789abcdef\r\n')
  const opened = await openRevocations(own, createMemoryLog().log)
  if (!opened.ok) throw new Error(opened.error.reason)
  const { isRevoked, close } = opened.value
  expect(isRevoked({ id: undefined, name: 'token-0123456789abcdef' })).toBe(true)
  expect(isRevoked({ id: undefined, name: 'token-0' })).toBe(false)
  close()
})

test('a line with more than one space revokes the token that it means', async () => {
  const own = join(folder, 'spaces.txt')
  writeFileSync(own, 'sub  alice\njti   1\n')
  const opened = await openRevocations(own, createMemoryLog().log)
  if (!opened.ok) throw new Error(opened.error.reason)
  const { isRevoked, close } = opened.value
  expect(isRevoked({ id: undefined, name: 'alice' })).toBe(true)
  expect(isRevoked({ id: undefined, name: ' alice' })).toBe(true)
  expect(isRevoked({ id: '1', name: 'bob' })).toBe(true)
  close()
})

test('a list with an invalid line is refused at the start, with the line number', async () => {
  const wrong = join(folder, 'wrong.txt')
  writeFileSync(wrong, 'jti 1\n\nuser alice\n')
  const reason = 'line 3: expected "jti ID" or "sub NAME"'
  expect(await openRevocations(wrong, createMemoryLog().log)).toMatchObject({
    error: { code: 'TOKEN_FILE_UNUSABLE', path: wrong, reason },
  })
})
