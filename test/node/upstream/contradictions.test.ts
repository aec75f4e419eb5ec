import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { SlotCommitment } from '../../../src/protocol/commitment.ts'
import { commitmentId, slotOfId } from '../../../src/protocol/ids.ts'
import type { OutputId, SlotIndex } from '../../../src/protocol/primitives.ts'
import { graphql } from '../../support/client.ts'
import {
  allOf,
  changing,
  endFollower as end,
  passOn,
  type Spoil,
  startFollower,
  startOddNode,
} from '../../support/odd-node.ts'
import { parsed } from '../../support/parsed.ts'
import { restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilCommitted,
  untilHealth,
  user,
} from '../../support/wallet.ts'

/** Tests how a follower reacts to a node whose data cannot be true: it stops, reports the reason, keeps its data and continues to read. */

let real: TestGateway
/** Two consecutive payments of one user, each in a slot of its own. */
let first: Paid
let second: Paid
beforeAll(async () => {
  real = await startGateway()
  const [funds] = await genesisOutputs(real.url, user(1))
  first = await pay(present(funds, 'funds'), [400_000_000n, 600_000_000n])
  second = await pay(present(first.created[0], 'output'), [400_000_000n])
})
afterAll(() => real.close())

interface Paid {
  readonly spent: OutputId
  readonly created: readonly OutputId[]
  readonly slot: SlotIndex
}

async function pay(spend: OutputId, amounts: readonly bigint[]): Promise<Paid> {
  const offer = await offerOf(real.url)
  const key = user(1)
  const outputs = amounts.map((amount) => ownedBy(key, amount))
  const payment = paymentOf(offer.network, {
    key,
    spend,
    outputs,
    creationSlot: slotNow(offer.network),
  })
  await acceptedId(await post(real.url, blockOf(offer, payment.payload).bytes))
  const metadata = () => restJson(`${real.url}/api/core/v3/outputs/${payment.created[0]}/metadata`)
  await untilCommitted(real.url, slotNow(offer.network))
  const { included } = await metadata()
  return { spent: spend, created: payment.created, slot: included.slot }
}

const follow = (spoil: Spoil, env: Record<string, string> = {}) =>
  startFollower(real.url, spoil, env)

const changes = (slot: SlotIndex) => `/by-slot/${slot}/utxo-changes/full`

describe.concurrent('a node that contradicts the committed data', () => {
  const rows: readonly (readonly [string, () => Spoil, string])[] = [
    [
      'another commitment to the slot before',
      () =>
        changing(`/by-slot/${first.slot}`, (commitment) => ({
          ...commitment,
          previousCommitmentId: commitment.previousCommitmentId.replace(/^0x../, '0xff'),
        })),
      'COMMITMENT_OF_ANOTHER_CHAIN',
    ],
    [
      'a commitment for another slot',
      () => changing(`/by-slot/${first.slot}`, (one) => ({ ...one, slot: one.slot + 1 })),
      'COMMITMENT_OF_ANOTHER_CHAIN',
    ],
    [
      'a commitment whose contents have another id',
      () =>
        changing(`/by-slot/${first.slot}`, (one) => ({
          ...one,
          referenceManaCost: `${BigInt(one.referenceManaCost) + 1n}`,
        })),
      'COMMITMENT_ID_WRONG',
    ],
    [
      'a created output that is left out',
      () =>
        changing(changes(first.slot), (one) => ({
          ...one,
          createdOutputs: one.createdOutputs.slice(1),
        })),
      'BASE_TOKENS_UNBALANCED',
    ],
    [
      'a consumed output that never existed',
      () =>
        changing(changes(first.slot), (one) => ({
          ...one,
          consumedOutputs: one.consumedOutputs.map((consumed: { outputId: string }) => ({
            ...consumed,
            outputId: consumed.outputId.replace(/^0x../, '0xff'),
          })),
        })),
      'OUTPUT_NOT_KNOWN',
    ],
    [
      'an output that is spent twice',
      () =>
        changing(changes(second.slot), (one) => ({
          ...one,
          consumedOutputs: one.consumedOutputs.map((consumed: object) => ({
            ...consumed,
            outputId: first.spent,
          })),
        })),
      'OUTPUT_SPENT_BEFORE',
    ],
    [
      'an output that is created twice',
      () =>
        changing(changes(second.slot), (one) => ({
          ...one,
          createdOutputs: one.createdOutputs.map((created: object) => ({
            ...created,
            outputId: first.created[1],
          })),
        })),
      'OUTPUT_NOT_NEW',
    ],
    [
      'an output with other contents when it is spent',
      () =>
        changing(changes(second.slot), (one) => ({
          ...one,
          consumedOutputs: one.consumedOutputs.map(withOtherMana),
        })),
      'OUTPUT_DIFFERS',
    ],
    [
      'an output with other contents when it is requested',
      () => changing(`/${first.created[0]}/full`, withOtherMana),
      'OUTPUT_DIFFERS',
    ],
    [
      'an output with contents that do not match its proof',
      () =>
        allOf(
          changing(`/${first.created[1]}/full`, withOtherMana),
          changing(changes(first.slot), (one) => ({
            ...one,
            createdOutputs: one.createdOutputs.map((created: CreatedOutput) =>
              created.outputId === first.created[1] ? withOtherMana(created) : created,
            ),
          })),
        ),
      'OUTPUT_PROOF_WRONG',
    ],
    [
      'an output of another slot',
      () =>
        changing(`/${first.created[0]}/full`, (one) => ({
          ...one,
          metadata: { ...one.metadata, included: { ...one.metadata.included, slot: 1 } },
        })),
      'OUTPUT_PLACE_WRONG',
    ],
    [
      'a spent output that is reported as unspent',
      () => changing(`/${first.spent}/metadata`, ({ spent: _, ...one }) => one),
      'OUTPUT_PLACE_WRONG',
    ],
  ]
  test.each(rows)('%s', async (_name, spoil, code) => {
    const follower = await follow(spoil())
    const { url, logged } = follower.gateway
    const health = await untilState(url, 'stopped')
    expect(health).toMatchObject({ isHealthy: false, following: { contradiction: { code } } })
    const { data } = await graphql(url, healthQuery)
    const message = expect.stringContaining(health.following.contradiction.message)
    const expectedFollowing = { state: 'STOPPED', contradiction: { code, message } }
    const reasons = ['NODE_CONTRADICTED']
    expect(data.health).toEqual({ isHealthy: false, reasons, following: expectedFollowing })
    const stopped = logged.filter((line) => line.includes('"following-stopped"'))
    expect(stopped.map((line) => JSON.parse(line).code)).toEqual([code])
    // Earlier data is kept and can be read; blocks are no longer forwarded.
    expect(health.following.committedSlot).toBeLessThan(second.slot)
    expect((await genesisOutputs(url, user(1))).length).toBe(1)
    const refused = await post(url, blockOf(await offerNow(), undefined).bytes)
    expect(refused.status).toBe(503)
    await end(follower)
  })

  test('is read again, and followed if it does so only once', async () => {
    let wrongResponses = 1
    const once: Spoil = (path, answer) => {
      if (!path.endsWith(changes(first.slot)) || wrongResponses-- <= 0) return answer
      return changing(changes(first.slot), (one) => ({ ...one, createdOutputs: [] }))(path, answer)
    }
    const follower = await follow(once)
    await untilCommitted(follower.gateway.url, second.slot)
    expect(follower.gateway.logged.some((line) => line.includes('"node-contradicts"'))).toBe(true)
    await end(follower)
  })
})

describe.concurrent('a node with another commitment to a slot that is already followed', () => {
  /** Returns the id of another commitment to the same slot. */
  const other = (id: string) => id.replace(/^0x../, id.startsWith('0xff') ? '0x00' : '0xff')

  /** Starts a follower of an odd node and of the real one. From now on, the odd node is on a branch whose last slot is not final. */
  async function followAstray(changes: Spoil) {
    const node = await startOddNode(real.url, passOn)
    const env = { LEDGER: 'upstream', UPSTREAM_URLS: `${node.url},${real.url}` }
    const gateway = await startGateway({ env })
    await untilCommitted(gateway.url, second.slot + 1)
    const { latestCommitmentId } = (await restJson(`${gateway.url}/api/core/v3/info`)).status
    const astray = changing('/api/core/v3/info', (info) => ({
      ...info,
      status: {
        ...info.status,
        latestCommitmentId: other(latestCommitmentId),
        latestFinalizedSlot: second.slot,
      },
    }))
    node.spoilBy(allOf(astray, changes))
    return { gateway, node }
  }

  test('is skipped while it may still give that commitment up, and the next node of the list is followed', async () => {
    const { gateway, node } = await followAstray(passOn)
    const events = () => gateway.logged.map((line) => JSON.parse(line).event)
    await until(() => events().includes('node-away'), { what: 'the node is skipped' })
    const { latestCommitmentId } = (await restJson(`${gateway.url}/api/core/v3/info`)).status
    await untilCommitted(gateway.url, slotOfId(latestCommitmentId) + 2)
    expect(events()).not.toContain('node-contradicts')
    await end({ gateway, node })
  })

  test('stops the following if one of its final commitments differs too', async () => {
    const { gateway, node } = await followAstray(
      changing(`/by-slot/${second.slot}`, (one) => ({ ...one, referenceManaCost: '7' })),
    )
    await untilState(gateway.url, 'stopped')
    const stopped = gateway.logged.find((line) => line.includes('"following-stopped"')) ?? ''
    const expected = { code: 'COMMITMENT_OF_ANOTHER_CHAIN', slot: second.slot }
    expect(JSON.parse(stopped)).toMatchObject(expected)
    await end({ gateway, node })
  })
})

test.concurrent('a node that was restored from an older state is not reported as followed', async () => {
  const follower = await follow(passOn)
  const { url } = follower.gateway
  await untilCommitted(url, second.slot + 3)
  await untilHealth(url)
  const older = (await restJson(
    `${real.url}/api/core/v3/commitments/by-slot/${first.slot}`,
  )) as never
  const latestCommitmentId = commitmentId(parsed(SlotCommitment, older))
  const restored = { latestCommitmentId, latestFinalizedSlot: first.slot, isHealthy: true }
  follower.node.spoilBy(
    changing('/api/core/v3/info', (info) => ({
      ...info,
      status: { ...info.status, ...restored },
    })),
  )
  await untilHealth(url, 503)
  expect(await anyJson(`${url}/health`)).toMatchObject({
    reasons: ['node unhealthy'],
    following: { state: 'following', isNodeHealthy: true, newestSlot: first.slot },
  })
  follower.node.spoilBy(passOn)
  await untilHealth(url)
  await end(follower)
})

describe.concurrent('a node of IOTA', () => {
  test('is followed although it omits an output that was created and spent in one slot', async () => {
    const passing = await payTwiceInOneSlot()
    const without = (list: readonly { readonly outputId: string }[]) =>
      list.filter(({ outputId }) => outputId !== passing.outputId)
    const spoil = changing(changes(passing.slot), (one) => ({
      ...one,
      createdOutputs: without(one.createdOutputs),
      consumedOutputs: without(one.consumedOutputs),
    }))
    const follower = await follow(spoil)
    const { url } = follower.gateway
    await untilCommitted(url, passing.slot)
    const path = (id: string) => `/api/core/v3/outputs/${id}`
    expect((await fetch(url + path(passing.outputId))).status).toBe(404)
    // The sibling output has a proof of the node, because the gateway cannot build one.
    expect(await restJson(url + path(passing.sibling))).toEqual(
      await restJson(real.url + path(passing.sibling)),
    )
    await end(follower)
  })

  /** Creates two outputs and spends the first one in the slot that creates it. */
  async function payTwiceInOneSlot() {
    for (const n of [3, 5, 7]) {
      const offer = await offerOf(real.url)
      const key = user(n)
      const creationSlot = slotNow(offer.network)
      const [spend] = await genesisOutputs(real.url, key)
      const outputs = [ownedBy(key, 400_000_000n), ownedBy(key, 600_000_000n)]
      const one = { key, spend: present(spend, 'funds'), outputs, creationSlot }
      const made = paymentOf(offer.network, one)
      const [outputId, sibling] = made.created
      const two = { ...one, spend: present(outputId, 'output'), outputs: outputs.slice(0, 1) }
      for (const payload of [made.payload, paymentOf(offer.network, two).payload]) {
        await acceptedId(await post(real.url, blockOf(offer, payload).bytes))
      }
      await untilCommitted(real.url, slotNow(offer.network))
      const { included, spent } = await restJson(
        `${real.url}/api/core/v3/outputs/${outputId}/metadata`,
      )
      if (included.slot !== spent.slot) continue
      return { slot: included.slot, outputId: two.spend, sibling: present(sibling, 'output') }
    }
    throw new Error('three pairs of payments fell into two slots each')
  }
})

describe.concurrent('without proofs', () => {
  test("a follower trusts the node's contents of an output, and /health reports this", async () => {
    const spoil = changing(changes(second.slot), (one) => ({
      ...one,
      createdOutputs: one.createdOutputs.map(withOtherMana),
    }))
    const follower = await follow(spoil, { UPSTREAM_PROOFS: 'off' })
    const { url } = follower.gateway
    await untilCommitted(url, second.slot)
    expect((await restJson(`${url}/health`)).following.withProofs).toBe(false)
    const { output } = await restJson(`${url}/api/core/v3/outputs/${first.created[1]}/full`)
    expect(output.amount).toBe('600000000')
    expect(follower.node.asked.filter((path) => path.includes('/outputs/')).length).toBeLessThan(3)
    await end(follower)
  })
})

describe.concurrent('a node without usable responses', () => {
  const rows: readonly (readonly [string, Spoil])[] = [
    ['half of a response', (_, answer) => ({ ...answer, body: answer.body.slice(0, 50) })],
    ['status 500', () => ({ status: 500, body: '{"error":{"code":"500","message":"oh"}}' })],
    ['status 503', () => ({ status: 503, body: '' })],
    ['nothing', () => 'HANG_UP'],
    ['an HTML page', () => ({ status: 200, body: '<html></html>' })],
    ['JSON of another kind', () => ({ status: 200, body: '[[[]]]' })],
  ]
  test.each(rows)(
    '%s: the gateway serves its data, and continues to follow later',
    async (_name, spoil) => {
      const follower = await follow(passOn)
      const { url } = follower.gateway
      await untilCommitted(url, second.slot)
      follower.node.spoilBy(spoil)
      const away = { reasons: ['nodes away'], reason: 'nodes away' }
      expect(await untilState(url, 'nodes away')).toMatchObject(away)
      const before = (await restJson(`${url}/api/gateway/v1/log`)).milestoneIndex
      const page = await restJson(
        `${url}/api/explorer/v2/ledger/updates/by-address/${addressOf(user(1))}`,
      )
      expect(page.items.length).toBe(1 + 3 + 2)
      follower.node.spoilBy(passOn)
      await untilCommitted(url, before + 1)
      expect((await restJson(`${url}/health`)).following.state).toBe('following')
      await end(follower)
    },
  )
})

interface CreatedOutput {
  readonly outputId: string
  readonly output: object
}

function withOtherMana<T extends Pick<CreatedOutput, 'output'>>(one: T): T {
  return { ...one, output: { ...one.output, mana: '1' } }
}

const healthQuery =
  '{ health { isHealthy reasons following { state contradiction { code message } } } }'

const offerNow = () => offerOf(real.url)

/** Returns the JSON of a response with any status. */
// biome-ignore lint/suspicious/noExplicitAny: the test knows the form of the response
async function anyJson(url: string): Promise<any> {
  return (await fetch(url)).json()
}

/** Returns the health of a follower as soon as it has a given following state. */
// biome-ignore lint/suspicious/noExplicitAny: the test knows the form of the response
async function untilState(url: string, state: string): Promise<any> {
  return until(
    async () => {
      const health = await anyJson(`${url}/health`)
      return health.following.state === state && health
    },
    { what: `the following of ${url} is '${state}'` },
  )
}
