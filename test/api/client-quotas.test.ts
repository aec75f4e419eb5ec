import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClientQuotas } from '../../src/api/clients/client-quotas.ts'
import { defaultClientLimits, developmentClientLimits } from '../../src/api/limits.ts'
import { bytesToHex } from '../../src/lib/hex.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import { Payload } from '../../src/protocol/transaction.ts'
import { graphql } from '../support/client.ts'
import { writeGenesis } from '../support/genesis-gateway.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { acceptedId, post } from '../support/submit.ts'
import { blockOf, offerOf, taggedData, untilHealth } from '../support/wallet.ts'

/** Daily quotas of a client for data that is kept for ever. */

test('a quota refills evenly over a day', () => {
  let time = 0
  const limits = { ...developmentClientLimits, payloadsPerDay: 24, bytesPerDay: 2_400 }
  const quota = createClientQuotas(limits, () => time)('one')
  expect(Array.from({ length: 24 }, () => quota.takePayload())).toEqual(Array(24).fill(undefined))
  const exceeded = { code: 'DAILY_QUOTA_EXCEEDED', unit: 'payloads', limit: 24 }
  expect(quota.takePayload()).toEqual({ ...exceeded, retryAfterSeconds: 3_600 })
  expect(quota.takeBytes(2_000)).toBeUndefined()
  expect(quota.takeBytes(500)).toMatchObject({ unit: 'bytes', retryAfterSeconds: 3_600 })
  time += 3_600_000
  expect([quota.takePayload(), quota.takeBytes(500)]).toEqual([undefined, undefined])
  expect(quota.takePayload()).toBeDefined()
})

test('a quota of no payloads says to try again in a day', () => {
  const quota = createClientQuotas(defaultClientLimits, () => 0)('one')
  expect(quota.takePayload()).toMatchObject({ limit: 0, retryAfterSeconds: 86_400 })
})

const data = taggedData('0x01', bytesToHex(new Uint8Array(8_000)))
const payload = JSON.stringify(print(Payload, data))

describe('a client', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({
      env: { TRUST_PROXY: '1', CLIENT_PAYLOADS: '2', CLIENT_MEGABYTES: '1' },
    })
    await untilHealth(gateway.url)
  })
  afterAll(() => gateway.close())

  test('has a limited number of payloads signed by all transports, and may still submit its own blocks', async () => {
    const client = { 'x-forwarded-for': '192.0.2.1' }
    await acceptedId(await post(gateway.url, payload, client))
    const mutation = `mutation { submitBlock(input: { payload: { taggedData: { tag: "0x", data: "0x" } } }) { blockId } }`
    const signed = await graphql(gateway.url, mutation, {}, client)
    expect(signed.errors).toBeUndefined()

    const refused = await post(gateway.url, payload, client)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(36_000)
    const { errors } = await graphql(gateway.url, mutation, {}, client)
    expect(errors?.[0]?.extensions).toMatchObject({
      ...{ code: 'DAILY_QUOTA_EXCEEDED', unit: 'payloads', limit: 2 },
    })
    const { bytes } = blockOf(await offerOf(gateway.url), data)
    await acceptedId(await post(gateway.url, bytes, client))
    await acceptedId(await post(gateway.url, payload, { 'x-forwarded-for': '192.0.2.2' }))
  })

  test('may submit a limited number of bytes of blocks, apart from other clients', async () => {
    const client = { 'x-forwarded-for': '192.0.2.3' }
    const offer = await offerOf(gateway.url)
    const one = (n: number) =>
      blockOf(
        offer,
        taggedData(`0x${n.toString(16).padStart(4, '0')}`, bytesToHex(new Uint8Array(8_100))),
      )
    const statuses: number[] = []
    for (let n = 0; n < 140 && statuses.at(-1) !== 429; n++) {
      statuses.push((await post(gateway.url, one(n).bytes, client)).status)
    }
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThan(100)
    expect(statuses.at(-1)).toBe(429)
    await acceptedId(await post(gateway.url, one(999).bytes, { 'x-forwarded-for': '192.0.2.4' }))
  })

  test('spends nothing on a block that it submits again', async () => {
    const client = { 'x-forwarded-for': '192.0.2.5' }
    const offer = await offerOf(gateway.url)
    const known = blockOf(offer, taggedData('0x02', bytesToHex(new Uint8Array(8_100)))).bytes
    for (let n = 0; n < 140; n++) await acceptedId(await post(gateway.url, known, client))
    await acceptedId(await post(gateway.url, blockOf(offer, data).bytes, client))
  })
})

test('on a network other than the development network the node signs nothing, and clients have lower limits', async () => {
  const genesis = writeGenesis([], 'a network of others')
  const gateway = await startGateway({ env: { GENESIS_FILE: genesis.path } })
  await untilHealth(gateway.url)
  const refused = await post(gateway.url, payload)
  expect([refused.status, await refused.text()]).toEqual([
    429,
    expect.stringContaining('this node issues no blocks for clients'),
  ])
  const { data: found } = await graphql(gateway.url, '{ limits { name value } }')
  const limits = new Map<string, string>(
    found.limits.map((limit: { name: string; value: string }) => [limit.name, limit.value]),
  )
  const { costPerSecond, connections, subscriptions, bytesPerDay } = defaultClientLimits
  expect(limits.get('clientCost')).toBe(`${costPerSecond}`)
  expect(limits.get('clientConnections')).toBe(`${connections}`)
  expect(limits.get('clientSubscriptions')).toBe(`${subscriptions}`)
  expect([limits.get('clientPayloads'), limits.get('clientBytes')]).toEqual(['0', `${bytesPerDay}`])
  await gateway.close()
  genesis.remove()
})
