import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { Block } from '../../../src/protocol/block.ts'
import type { Output } from '../../../src/protocol/outputs.ts'
import { Output as OutputSchema } from '../../../src/protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../../../src/protocol/primitives.ts'
import type { MetadataEntry } from '../../../src/protocol/schema/metadata-map.ts'
import { encode, print } from '../../../src/protocol/schema/schema.ts'
import { graphql } from '../../support/client.ts'
import {
  changing,
  endFollower as end,
  passOn,
  type Spoil,
  startFollower,
} from '../../support/odd-node.ts'
import { oddPaymentOf } from '../../support/odd-outputs.ts'
import { rest, restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  slotNow,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

/** Tests that a follower decodes what its node decodes, keeps the bytes, and reports what it cannot read (codec reference 19). */

const key = user(1)
const address = { type: 0, pubKeyHash: key.publicKeyHash } as const
const zeros = `0x${'00'.repeat(32)}` as const

const entries = (...pairs: readonly (readonly [string, MetadataEntry['value']])[]) =>
  pairs.map(([name, value]) => ({ key: name, value }))

/** The JSON of these metadata entries contains less than their bytes. */
const nodeOrder = entries(['b', '0x01'], ['aa', '0x02'])
const sdkOrder = entries(['aa', '0x02'], ['b', '0x01'])

/** Outputs that only nodes accept. */
const odd: readonly Output[] = [
  { ...ownedBy(key, 50_000_000n), features: [{ type: 2, entries: nodeOrder }] },
  { ...ownedBy(key, 50_000_000n), features: [{ type: 2, entries: sdkOrder }] },
  {
    ...ownedBy(key, 50_000_000n),
    features: [{ type: 2, entries: entries(['', '0x'], ['x', '0x']) }],
  },
  {
    ...ownedBy(key, 50_000_000n),
    unlockConditions: [{ type: 0, address: { type: 48, address, allowedCapabilities: '0x0080' } }],
  },
  {
    ...{ type: 2, amount: 50_000_000n, mana: 0n, anchorId: zeros as never, stateIndex: 0 },
    unlockConditions: [
      { type: 4, address },
      { type: 5, address },
    ],
    features: [
      { type: 2, entries: nodeOrder },
      { type: 3, entries: sdkOrder },
    ],
    immutableFeatures: [{ type: 2, entries: nodeOrder }],
  },
]

let real: TestGateway
/** A payment with all of these outputs in their own order. */
let mixed: Paid
/** A payment with two of them, both in the order of the node, as nodes of IOTA have them; spent later. */
let ordered: Paid
let spending: Paid
beforeAll(async () => {
  real = await startGateway()
  const [funds] = await genesisOutputs(real.url, key)
  mixed = await pay([present(funds, 'funds')], [ownedBy(key, 750_000_000n), ...odd], 'bytes')
  const inNodeOrder = odd.slice(0, 1).flatMap((one) => [one, one])
  ordered = await pay(
    mixed.created.slice(0, 1),
    [...inNodeOrder, ownedBy(key, 650_000_000n)],
    'json',
  )
  spending = await pay(ordered.created, [ownedBy(key, 750_000_000n)], 'bytes')
}, 120_000)
afterAll(() => real.close())

interface Paid {
  readonly created: readonly OutputId[]
  readonly slot: SlotIndex
}

async function pay(
  spend: readonly OutputId[],
  outputs: readonly Output[],
  form: 'bytes' | 'json',
): Promise<Paid> {
  const offer = await offerOf(real.url)
  const payment = oddPaymentOf(offer.network, {
    spend,
    outputs,
    creationSlot: slotNow(offer.network),
    // Bits without meaning, besides the right to burn mana.
    capabilities: '0xc2',
    unlock: (hash) =>
      spend.map((_, i) =>
        i === 0 ? { type: 0, signature: key.sign(hash) } : { type: 1, reference: 0 },
      ),
  })
  const { block, bytes } = blockOf(offer, payment.payload)
  // JSON does not keep the order of metadata; the issuer's signature determines it.
  const body = form === 'bytes' ? bytes : JSON.stringify(print(Block, block))
  await acceptedId(await post(real.url, body))
  await untilCommitted(real.url, slotNow(offer.network))
  const path = `${real.url}/api/core/v3/transactions/${payment.transactionId}/metadata`
  expect(await restJson(path)).not.toHaveProperty('transactionFailureReason')
  const [first] = payment.created
  const { included } = await restJson(`${real.url}/api/core/v3/outputs/${first}/metadata`)
  return { created: payment.created, slot: included.slot }
}

const follow = (spoil: Spoil, env: Record<string, string> = {}) =>
  startFollower(real.url, spoil, env)

const changes = (slot: SlotIndex) => `/by-slot/${slot}/utxo-changes/full`

async function bytesOf(url: string, id: OutputId): Promise<string> {
  const accept = 'application/vnd.iota.serializer-v2'
  const answer = await rest(`${url}/api/core/v3/outputs/${id}`, { headers: { accept } })
  return bytesToHex(new Uint8Array(await answer.arrayBuffer()))
}

describe('outputs that nodes accept and the official SDK rejects', () => {
  test('are stored unchanged by the embedded ledger', async () => {
    for (const [i, output] of odd.entries()) {
      const id = present(mixed.created[i + 1], 'an output')
      expect(await bytesOf(real.url, id)).toContain(
        bytesToHex(encode(OutputSchema, output)).slice(2),
      )
    }
  })

  /** A node of IOTA writes an empty value as an empty string. */
  const emptyText: Spoil = (path, answer) =>
    typeof answer.body === 'string' && /\/outputs\/|utxo-changes/.test(path)
      ? { ...answer, body: answer.body.replaceAll('"x":"0x"', '"x":""') }
      : answer

  test.each([
    ['with proofs', passOn, {}],
    ['without proofs', passOn, { UPSTREAM_PROOFS: 'off' }],
    ['from a node that writes empty bytes as an empty string', emptyText, {}],
  ])('are followed %s, with the same bytes', async (_name, spoil, env) => {
    const follower = await follow(spoil, env)
    const { url } = follower.gateway
    await untilCommitted(url, spending.slot)
    for (const id of mixed.created.slice(1)) {
      expect(await bytesOf(url, id)).toBe(await bytesOf(real.url, id))
    }
    for (const id of ordered.created) {
      const path = `/api/core/v3/outputs/${id}/full`
      const { output, outputIdProof } = await restJson(url + path)
      const expected = await restJson(real.url + path)
      expect({ output, outputIdProof }).toEqual({
        output: expected.output,
        outputIdProof: expected.outputIdProof,
      })
    }
    await end(follower)
  })

  test('need one proof per transaction if all its metadata is in the order of the node', async () => {
    const follower = await follow(passOn)
    await untilCommitted(follower.gateway.url, spending.slot)
    const requested = follower.node.asked.filter((path) =>
      ordered.created.some((id) => path.endsWith(`/${id}/full`)),
    )
    expect(requested).toHaveLength(1)
    await end(follower)
  })
})

describe('an unreadable response', () => {
  /** Replaces the features by one of an unknown type. */
  const unknownFeature = (output: object) => ({ ...output, features: [{ type: 99 }] })
  const id = () => present(ordered.created[1], 'an output')
  const rows: readonly (readonly [string, () => Spoil, () => object])[] = [
    [
      'a created output',
      () =>
        changing(changes(ordered.slot), (one) => ({
          ...one,
          createdOutputs: one.createdOutputs.map((created: { outputId: string; output: object }) =>
            created.outputId === id()
              ? { ...created, output: unknownFeature(created.output) }
              : created,
          ),
        })),
      () => ({ slot: ordered.slot, outputId: id() }),
    ],
    [
      'a single output',
      () =>
        changing(`/${ordered.created[0]}/full`, (one) => ({
          ...one,
          output: unknownFeature(one.output),
        })),
      () => ({ slot: ordered.slot, outputId: ordered.created[0] }),
    ],
    [
      'the metadata of a spent output',
      () => changing(`/${ordered.created[2]}/metadata`, () => ({ spent: 7 })),
      () => ({ slot: spending.slot, outputId: ordered.created[2] }),
    ],
    [
      'a commitment',
      () => changing(`/by-slot/${ordered.slot}`, () => 'nothing'),
      () => ({ slot: ordered.slot }),
    ],
  ]
  test.each(rows)(
    '%s is reported as unreadable, with slot and output, until it can be read',
    async (_name, spoil, place) => {
      const follower = await follow(spoil())
      const { url, logged } = follower.gateway
      const health = await untilUnreadable(url)
      const code = 'NODE_ANSWER_UNREADABLE'
      const message = expect.stringContaining('cannot be read')
      expect(health).toMatchObject({ isHealthy: false, reasons: ['node answer unreadable'] })
      expect(health.following.unreadable).toEqual({ code, message, ...place() })
      const { data } = await graphql(
        url,
        '{ health { following { state unreadable { code message milestoneIndex outputId } } } }',
      )
      const { slot: milestoneIndex, outputId = null } = Object(place())
      expect(data.health.following).toEqual({
        state: 'UNREADABLE',
        unreadable: { code, message, milestoneIndex, outputId },
      })
      const lines = logged.filter((line) => line.includes('"node-unreadable"')).map(parsedLine)
      expect(lines[0]).toMatchObject(place())
      expect(logged.some((line) => line.includes('"node-away"'))).toBe(false)
      follower.node.spoilBy(passOn)
      await untilCommitted(url, spending.slot)
      expect((await restJson(`${url}/health`)).following.state).not.toBe('unreadable')
      await end(follower)
    },
  )

  test('of another route is reported to the client of that route', async () => {
    const follower = await follow(changing('/api/core/v3/committee', () => 'nobody'))
    const answer = await fetch(`${follower.gateway.url}/api/core/v3/committee`)
    expect(answer.status).toBe(503)
    expect((await answer.json()).error.message).toContain('cannot be read')
    await end(follower)
  })
})

describe('a node that knows parameters of a later version', () => {
  const later: Spoil = changing('/core/v3/info', (info) => ({
    ...info,
    protocolParameters: [
      ...info.protocolParameters,
      { startEpoch: 4_000_000_000, parameters: { type: 1, version: 4, shape: 'another' } },
    ],
  }))

  test('is followed from its genesis', async () => {
    const follower = await follow(later)
    const { url } = follower.gateway
    await untilCommitted(url, spending.slot)
    const { protocolParameters } = await restJson(`${url}/api/core/v3/info`)
    expect(protocolParameters).toHaveLength(1)
    await end(follower)
  })
})

// biome-ignore lint/suspicious/noExplicitAny: the test knows the form of the response
async function untilUnreadable(url: string): Promise<any> {
  return until(async () => {
    const health = await (await fetch(`${url}/health`)).json()
    return health.following.state === 'unreadable' && health
  })
}

function parsedLine(line: string): unknown {
  return JSON.parse(line)
}
