import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { accountIdOfKey, developmentKeys } from '../../../src/node/embedded/development.ts'
import { Block } from '../../../src/protocol/block.ts'
import type { OutputId } from '../../../src/protocol/primitives.ts'
import { print } from '../../../src/protocol/schema/schema.ts'
import { Payload } from '../../../src/protocol/transaction.ts'
import { onDatabase } from '../../support/databases.ts'
import { restJson } from '../../support/rest.ts'
import { createSettableClock } from '../../support/settable-clock.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, type Body, binary, post, refusal, submit } from '../../support/submit.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  type SignedBlock,
  slotNow,
  taggedData,
  untilHealth,
  user,
} from '../../support/wallet.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

let serial = 0

/** Creates a block that was not submitted before. */
async function newBlock(url = gateway.url): Promise<SignedBlock> {
  serial++
  return blockOf(await offerOf(url), taggedData('0x', `0x${serial.toString(16).padStart(8, '0')}`))
}

const taggedJson = { type: 0, tag: '0x746167', data: '0x64617461' }

describe('a valid block is accepted', () => {
  const json = ({ block }: SignedBlock): object => Object(print(Block, block))
  const rows: readonly (readonly [string, (block: SignedBlock) => Body, type: string])[] = [
    ['as bytes', ({ bytes }) => bytes, binary],
    [
      'as bytes of another network’s type',
      ({ bytes }) => bytes,
      'application/vnd.tst.serializer-v2',
    ],
    ['as bytes with the type in upper case', ({ bytes }) => bytes, binary.toUpperCase()],
    ['as bytes in hexadecimal', ({ bytes }) => bytesToHex(bytes), binary],
    [
      'as bytes in upper-case hexadecimal',
      ({ bytes }) => `0x${bytesToHex(bytes).slice(2).toUpperCase()}\n`,
      binary,
    ],
    ['as JSON', (block) => JSON.stringify(json(block)), 'application/json'],
    [
      'as JSON with a character set',
      (block) => JSON.stringify(json(block)),
      'application/json; charset=utf-8',
    ],
    [
      'as JSON with unknown members',
      (block) => JSON.stringify({ ...json(block), more: 1 }),
      'application/json',
    ],
  ]
  test.each(rows)('%s', async (_name, bodyOf, type) => {
    const block = await newBlock()
    const response = await post(gateway.url, bodyOf(block), { 'content-type': type })
    expect(await acceptedId(response)).toBe(block.blockId)
  })

  test.each(['payload: null', 'no payload'])('with %s', async (form) => {
    const { block, blockId } = blockOf(await offerOf(gateway.url), undefined)
    const printed = JSON.stringify(print(Block, block))
    expect(printed).not.toContain('payload')
    const body =
      form === 'no payload' ? printed : printed.replace('"maxBurnedMana"', '"payload":null,$&')
    expect(await acceptedId(await post(gateway.url, body))).toBe(blockId)
  })

  test('twice, with the same id', async () => {
    const { bytes, block, blockId } = await newBlock()
    expect(await acceptedId(await post(gateway.url, bytes))).toBe(blockId)
    expect(await acceptedId(await post(gateway.url, bytes))).toBe(blockId)
    expect(await submit(gateway.url, { json: print(Block, block) })).toBe(blockId)
  })

  test('many times at once, with the same id', async () => {
    const { bytes, blockId } = await newBlock()
    const responses = await Promise.all(Array.from({ length: 8 }, () => post(gateway.url, bytes)))
    expect(await Promise.all(responses.map(acceptedId))).toEqual(Array(8).fill(blockId))
  })

  test('and its id is returned as bytes on request', async () => {
    const { bytes, blockId } = await newBlock()
    const response = await post(gateway.url, bytes, { accept: binary })
    expect([response.status, response.headers.get('content-type')]).toEqual([201, binary])
    expect(response.headers.get('location')).toBe(blockId)
    expect(bytesToHex(new Uint8Array(await response.arrayBuffer()))).toBe(blockId)
  })

  const inputs: readonly (readonly [string, (block: SignedBlock) => object])[] = [
    ['as bytes', ({ bytes }) => ({ bytes: bytesToHex(bytes) })],
    ['as JSON', ({ block }) => ({ json: print(Block, block) })],
    ['member by member', typedInput],
  ]
  test.each(inputs)('by GraphQL %s', async (_name, inputOf) => {
    const block = await newBlock()
    expect(await submit(gateway.url, inputOf(block))).toBe(block.blockId)
  })

  function typedInput({ block: { header, body, signature } }: SignedBlock): object {
    const { protocolVersion, slotCommitmentId, latestFinalizedSlot, issuerId } = header
    const { publicKey, signature: bytes } = signature
    const payload = body.type === 0 && body.payload?.type === 0 ? body.payload : undefined
    const basic = {
      strongParents: body.strongParents,
      payload: { taggedData: { data: payload?.data } },
      maxBurnedMana: body.type === 0 ? body.maxBurnedMana.toString() : '0',
    }
    const typed = {
      header: {
        protocolVersion,
        slotCommitmentId,
        latestFinalizedSlot,
        issuerId,
        networkId: header.networkId.toString(),
        issuingTime: header.issuingTime.toString(),
      },
      body: { basic },
      signature: { ed25519: { publicKey, signature: bytes } },
    }
    return { block: typed }
  }
})

describe('a payload without a block', () => {
  test('becomes a block of the node’s own account', async () => {
    const blockId = await acceptedId(await post(gateway.url, JSON.stringify(taggedJson)))
    const { header, body } = await restJson(`${gateway.url}/api/core/v3/blocks/${blockId}`)
    expect(header.issuerId).toBe(accountIdOfKey(developmentKeys().issuer))
    expect(body.payload).toEqual(taggedJson)
  })

  test('that is a transaction is booked', async () => {
    const { network } = await offerOf(gateway.url)
    const key = user(9)
    const [spend = '0x' as OutputId] = await genesisOutputs(gateway.url, key)
    const outputs = [ownedBy(key, 1_000_000_000n)]
    const payment = paymentOf(network, { spend, key, outputs, creationSlot: slotNow(network) })
    const json = JSON.stringify(print(Payload, payment.payload))
    const blockId = await acceptedId(await post(gateway.url, json))
    const { body } = await restJson(`${gateway.url}/api/core/v3/blocks/${blockId}`)
    expect(body.payload).toEqual(JSON.parse(json))
  })

  test('is accepted by GraphQL', async () => {
    const { tag, data } = taggedJson
    const blockId = await submit(gateway.url, { payload: { taggedData: { tag, data } } })
    const { body } = await restJson(`${gateway.url}/api/core/v3/blocks/${blockId}`)
    expect(body.payload).toEqual(taggedJson)
  })

  const malformed = [
    ['of an unknown kind', { type: 9 }, /unknown type/],
    ['that acts for the account of the node', { type: 2 }, /^type: a candidacy announcement /],
    ['with a tag that is too long', { ...taggedJson, tag: `0x${'74'.repeat(65)}` }, /^tag /],
  ] as const
  test.each(malformed)('%s is refused', async (_name, json, expected) => {
    const [status, message] = await refusal(await post(gateway.url, JSON.stringify(json)))
    expect([status, message]).toEqual([400, expect.stringMatching(expected)])
  })
})

describe('blocks are accepted from', () => {
  const closed = 'submitting blocks is not available for public use'
  const tokenNeeded = `${closed}; send a token in Authorization that may submit blocks`
  type Authorization = (gateway: TestGateway) => Promise<Record<string, string>>
  const noToken: Authorization = async () => ({})
  const submitToken: Authorization = async ({ token }) => ({
    authorization: `Bearer ${await token('block:submit')}`,
  })
  const otherScope: Authorization = async ({ token }) => ({
    authorization: await token('chain-record:write'),
  })
  const invalidToken: Authorization = async () => ({ authorization: 'Bearer e30.e30.e30' })
  const rows: readonly (readonly [string, string, Authorization, string | undefined])[] = [
    ['nobody if the policy is closed', 'closed', noToken, closed],
    ['nobody with a token if the policy is closed', 'closed', submitToken, closed],
    ['nobody without a token if the policy is token', 'token', noToken, tokenNeeded],
    ['nobody with an invalid token', 'token', invalidToken, tokenNeeded],
    ['nobody with a token of another scope', 'token', otherScope, tokenNeeded],
    ['everybody with a token', 'token', submitToken, undefined],
    ['everybody if the policy is open', 'open', noToken, undefined],
  ]
  test.each(rows)('%s', async (_name, policy, authorize, message) => {
    const guarded = await startGateway({ env: { SUBMIT: policy } })
    const headers = await authorize(guarded)
    const [first, second] = [await newBlock(guarded.url), await newBlock(guarded.url)]
    const response = await post(guarded.url, first.bytes, headers)
    const result = await submit(guarded.url, { bytes: bytesToHex(second.bytes) }, headers)
    if (message === undefined) {
      expect(await acceptedId(response)).toBe(first.blockId)
      expect(result).toBe(second.blockId)
    } else {
      expect(await refusal(response)).toEqual([403, message])
      expect(result).toEqual({ code: 'SUBMISSION_NOT_ALLOWED', message, policy })
    }
    await guarded.close()
  })
})

describe('a gateway that cannot accept a block', () => {
  test('because it has no account responds with 503 to a payload, and accepts blocks', async () => {
    const withoutIssuer = await startGateway({ env: { ISSUER_KEY: 'none' } })
    await untilHealth(withoutIssuer.url)
    const response = await post(withoutIssuer.url, JSON.stringify(taggedJson))
    expect(response.headers.get('retry-after')).toBe('1')
    const message =
      'a payload was submitted without a block, and this node has no issuer account to build one; submit a block'
    expect(await refusal(response)).toEqual([503, message])
    const { data } = taggedJson
    const result = await submit(withoutIssuer.url, { payload: { taggedData: { data } } })
    expect(result).toEqual({ code: 'ISSUER_NOT_CONFIGURED', message })
    const { bytes, blockId } = await newBlock(withoutIssuer.url)
    expect(await acceptedId(await post(withoutIssuer.url, bytes))).toBe(blockId)
    await withoutIssuer.close()
  })

  test('because another process writes responds with 503 until it has the lease again', async () => {
    const usurped = await startGateway()
    const known = await newBlock(usurped.url)
    await acceptedId(await post(usurped.url, known.bytes))
    const { bytes } = await newBlock(usurped.url)
    const { databaseUrl } = usurped
    const usurp = "UPDATE writer SET term = term + 1, holder = 'other', until = 9999999999999"
    await onDatabase(databaseUrl, usurp)
    await untilHealth(usurped.url, 503)
    // On a database that several processes may share, blocks are accepted as long as one of them books them.
    const reason = databaseUrl.startsWith('file:') ? 'LEASE_LOST' : 'STARTING'
    await expectUnavailable(usurped.url, bytes, reason)
    expect(await acceptedId(await post(usurped.url, known.bytes))).toBe(known.blockId)
    await onDatabase(databaseUrl, 'UPDATE writer SET until = 0')
    await untilHealth(usurped.url)
    const late = await newBlock(usurped.url)
    expect(await acceptedId(await post(usurped.url, late.bytes))).toBe(late.blockId)
    await usurped.close()
  })

  test('because it catches up responds with 503, and can be closed', async () => {
    const clock = createSettableClock(BigInt(Date.now()) * 1_000_000n)
    const late = await startGateway({ clock })
    await untilHealth(late.url)
    const { bytes } = await newBlock(late.url)
    clock.advance(365n * 86_400_000_000_000n)
    await untilHealth(late.url, 503)
    await expectUnavailable(late.url, bytes, 'STARTING')
    await late.close()
  })

  test('because its store is broken responds with 500 and the request id alone', async () => {
    const broken = await startGateway()
    const { bytes } = await newBlock(broken.url)
    await onDatabase(broken.databaseUrl, 'ALTER TABLE blocks RENAME TO gone')
    const response = await post(broken.url, bytes)
    const requestId = response.headers.get('x-request-id')
    const text = await response.text()
    expect([response.status, JSON.parse(text)]).toEqual([
      500,
      { error: { code: 500, message: `internal server error (request ${requestId})` } },
    ])
    expect(text).not.toMatch(/ at |blocks|sql/i)
    const line = broken.logged.find((logged) => logged.includes(String(requestId)))
    expect(JSON.parse(line ?? '{}').error.stack).toContain(' at ')
    expect(await submit(broken.url, { bytes: bytesToHex(bytes) })).toMatchObject({
      code: 'INTERNAL',
      message: expect.stringMatching(/^internal server error \(request [0-9a-f-]{36}\)$/),
    })
    await broken.close()
  })

  async function expectUnavailable(url: string, bytes: Uint8Array, reason: string): Promise<void> {
    const message = `the ledger accepts no blocks now (${reason.toLowerCase().replace('_', ' ')})`
    for (const body of [bytes, JSON.stringify(taggedJson)]) {
      const response = await post(url, body)
      expect(response.headers.get('retry-after')).toBe('1')
      expect(await refusal(response)).toEqual([503, message])
    }
    const result = await submit(url, { bytes: bytesToHex(bytes) })
    expect(result).toEqual({ code: 'LEDGER_UNAVAILABLE', message, reason })
  }
})
