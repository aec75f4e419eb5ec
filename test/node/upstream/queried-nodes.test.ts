import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { graphql } from '../../support/client.ts'
import {
  allOf,
  changing,
  endFollower,
  passOn,
  type Spoil,
  startFollower,
  startOddNode,
} from '../../support/odd-node.ts'
import { rest, restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
import { blockOf, offerOf, slotNow, taggedData, untilCommitted } from '../../support/wallet.ts'

/** Tests which nodes get the queries and the blocks of clients. */

let real: TestGateway
/** A block in a committed slot. */
let blockId: string
beforeAll(async () => {
  real = await startGateway()
  blockId = await acceptedId(await post(real.url, await newBlock('known')))
  await untilCommitted(real.url, slotNow((await offerOf(real.url)).network))
})
afterAll(() => real.close())

async function newBlock(text: string) {
  const payload = taggedData('0x', bytesToHex(Buffer.from(text)))
  return blockOf(await offerOf(real.url), payload).bytes
}

const stateOf = async (url: string) => {
  const { data, errors } = await graphql(url, `{ block(id: "${blockId}") { state } }`)
  return errors?.[0]?.extensions.code ?? data.block?.state
}

const withoutBlocks: Spoil = (path, answer) =>
  path.includes('/blocks/0x') ? { status: 404, body: notFound } : answer
const notFound = '{"error":{"code":"404","message":"not found"}}'

const otherCommittee = changing('/core/v3/committee', (one) => ({ ...one, totalStake: '666' }))

describe.concurrent('of two nodes', () => {
  async function followBoth(spoil: Spoil) {
    const node = await startOddNode(real.url, spoil)
    const UPSTREAM_URLS = `${node.url},${real.url}`
    const gateway = await startGateway({ env: { LEDGER: 'upstream', UPSTREAM_URLS } })
    await untilCommitted(
      gateway.url,
      (await restJson(`${real.url}/api/gateway/v1/log`)).milestoneIndex,
    )
    return { gateway, node }
  }

  test('the one that is followed is queried first', async () => {
    const unhealthy = changing('/core/v3/info', (info) => ({
      ...info,
      status: { ...info.status, isHealthy: false },
    }))
    const follower = await followBoth(allOf(unhealthy, otherCommittee))
    const { url } = follower.gateway
    expect((await restJson(`${url}/health`)).following.node).toBe(2)
    const [own, expected] = await Promise.all(
      [url, real.url].map((one) => restJson(`${one}/api/core/v3/committee`)),
    )
    expect(own.totalStake).toBe(expected.totalStake)
    const before = follower.node.asked.length
    await acceptedId(await post(url, await newBlock('to the followed node')))
    expect(follower.node.asked.slice(before)).not.toContain('/api/core/v3/blocks')
    await endFollower(follower)
  })

  test('the first is tried rarely if its slots cannot be fetched, however often its info can', async () => {
    const follower = await followBoth(passOn)
    const { url } = follower.gateway
    follower.node.spoilBy((path, answer) =>
      path.includes('/utxo-changes') ? { status: 500, body: '{}' } : answer,
    )
    const before = follower.node.asked.length
    const { milestoneIndex } = await restJson(`${url}/api/gateway/v1/log`)
    // A slot takes a second.
    await untilCommitted(url, milestoneIndex + 16)
    const asked = follower.node.asked.slice(before)
    const tries = asked.filter((path) => path.includes('/utxo-changes')).length
    expect(tries).toBeGreaterThan(0)
    expect(tries).toBeLessThan(9)
    await endFollower(follower)
  })

  test('the second is queried for what the first does not have', async () => {
    const follower = await followBoth(withoutBlocks)
    const { url } = follower.gateway
    expect((await restJson(`${url}/health`)).following.node).toBe(1)
    expect(await stateOf(url)).toBe('FINALIZED')
    await endFollower(follower)
  })
})

test.concurrent('a node of another network gets no queries and no blocks', async () => {
  const follower = await startFollower(real.url, passOn, {})
  const { gateway, node } = follower
  const { url } = gateway
  const log = await restJson(`${real.url}/api/gateway/v1/log`)
  await untilCommitted(url, log.milestoneIndex)
  const renamed = changing('/core/v3/info', (info) => {
    const [first] = info.protocolParameters
    const parameters = { ...first.parameters, networkName: 'another' }
    return { ...info, protocolParameters: [{ ...first, parameters }] }
  })
  node.spoilBy(allOf(renamed, withoutBlocks, otherCommittee))
  await until(() => gateway.logged.some((line) => line.includes('another network')))
  const before = node.asked.length
  const asked = () => node.asked.slice(before)
  const block = await newBlock('to no node')
  // The gateway looks again whether the node belongs to the network.
  await until(async () => {
    expect(await stateOf(url)).toBe('NOT_TOLD_BY_NODE')
    expect((await rest(`${url}/api/core/v3/committee`)).status).toBe(503)
    expect((await post(url, block)).status).toBe(503)
    return asked().length >= 3
  })
  expect(new Set(asked())).toEqual(new Set(['/api/core/v3/info']))
  node.spoilBy(passOn)
  await until(async () => (await stateOf(url)) === 'FINALIZED')
  await endFollower(follower)
})

test.concurrent('the page of a proxy whose node is away is no response of the node', async () => {
  const page: Spoil = (path, answer) =>
    path.includes('/blocks/0x') ? { status: 404, body: '404 page not found\n' } : answer
  const follower = await startFollower(real.url, page, {})
  expect(await stateOf(follower.gateway.url)).toBe('NOT_TOLD_BY_NODE')
  await endFollower(follower)
})

test.concurrent.each([
  ['limits the rate of requests', 429],
  ['fails when it gets many requests', 503],
] as const)(
  'a node that %s is followed nevertheless',
  async (_name, status) => {
    // Fewer than the slots since the genesis need, so that the limit is reached however slow the machine is.
    const atOnce = 30
    const pauseMs = 300
    let requests = 0
    let refused = 0
    let pausedUntil = 0
    const limited: Spoil = (_path, answer) => {
      if (performance.now() < pausedUntil) {
        refused++
        return { status, body: '' }
      }
      if (++requests % atOnce === 0) pausedUntil = performance.now() + pauseMs
      return answer
    }
    const { milestoneIndex } = await restJson(`${real.url}/api/gateway/v1/log`)
    const node = await startOddNode(real.url, limited)
    const gateway = await startGateway({ env: { LEDGER: 'upstream', UPSTREAM_URLS: node.url } })
    await untilCommitted(gateway.url, milestoneIndex)
    expect(refused).toBeGreaterThan(0)
    await endFollower({ gateway, node })
  },
  60_000,
)
