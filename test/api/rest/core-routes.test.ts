import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { Block } from '../../../src/protocol/block.ts'
import { SlotCommitment } from '../../../src/protocol/commitment.ts'
import { commitmentId, slotOfId } from '../../../src/protocol/ids.ts'
import {
  BlockMetadata,
  BlockWithMetadata,
  IssuanceOffer,
  NetworkMetrics,
  NodeInfo,
  OutputMetadata,
  OutputWithMetadata,
  OutputWithProof,
  TransactionMetadata,
  UtxoChanges,
  UtxoChangesFull,
} from '../../../src/protocol/node-responses.ts'
import type { BlockId, OutputId } from '../../../src/protocol/primitives.ts'
import { decode, print, type Schema } from '../../../src/protocol/schema/schema.ts'
import { Transaction } from '../../../src/protocol/transaction.ts'
import { graphql } from '../../support/client.ts'
import { rest, restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, binary, post, refusal } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  type SignedBlock,
  type SignedPayment,
  slotNow,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

let gateway: TestGateway
let core: string
let spent: OutputId
let payment: SignedPayment
let failed: SignedPayment
let carrier: SignedBlock

beforeAll(async () => {
  gateway = await startGateway()
  core = `${gateway.url}/api/core/v3`
  const offer = await offerOf(gateway.url)
  spent = present((await genesisOutputs(gateway.url, user(1)))[0], 'an output')
  const pay = (amount: bigint) =>
    paymentOf(offer.network, {
      spend: spent,
      key: user(1),
      outputs: [ownedBy(user(1), amount), ownedBy(user(2), 1_000_000_000n - amount)],
      creationSlot: slotNow(offer.network),
    })
  payment = pay(400_000_000n)
  failed = pay(300_000_000n)
  carrier = blockOf(offer, payment.payload)
  await acceptedId(await post(gateway.url, carrier.bytes))
  await acceptedId(await post(gateway.url, blockOf(offer, failed.payload).bytes))
  await untilCommitted(gateway.url, slotOfId(carrier.blockId))
})
afterAll(() => gateway.close())

describe('a route returns the same as JSON and as bytes:', () => {
  const slot = () => slotOfId(carrier.blockId)
  const rows: readonly (readonly [string, () => string, Schema<unknown>])[] = [
    ['the block', () => `blocks/${carrier.blockId}`, Block],
    ['its state', () => `blocks/${carrier.blockId}/metadata`, BlockMetadata],
    ['the block and its state', () => `blocks/${carrier.blockId}/full`, BlockWithMetadata],
    ['an output', () => `outputs/${payment.created[1]}`, OutputWithProof],
    ['an unspent output', () => `outputs/${payment.created[1]}/metadata`, OutputMetadata],
    ['a spent output', () => `outputs/${spent}/metadata`, OutputMetadata],
    ['an output and its state', () => `outputs/${payment.created[0]}/full`, OutputWithMetadata],
    ['a transaction', () => `transactions/${payment.transactionId}`, Transaction],
    ['its state', () => `transactions/${payment.transactionId}/metadata`, TransactionMetadata],
    [
      'the state of a failed transaction',
      () => `transactions/${failed.transactionId}/metadata`,
      TransactionMetadata,
    ],
    ['its block', () => `transactions/${payment.transactionId}/included-block`, Block],
    [
      'the state of its block',
      () => `transactions/${payment.transactionId}/included-block/metadata`,
      BlockMetadata,
    ],
    ['a commitment', () => `commitments/by-slot/${slot()}`, SlotCommitment],
    ['the changes of a slot', () => `commitments/by-slot/${slot()}/utxo-changes`, UtxoChanges],
    [
      'the changes of a slot with outputs',
      () => `commitments/by-slot/${slot()}/utxo-changes/full`,
      UtxoChangesFull,
    ],
    [
      'the outputs of the genesis',
      () => `commitments/by-slot/0/utxo-changes/full`,
      UtxoChangesFull,
    ],
    ['the node', () => 'info', NodeInfo],
    ['the issuance offer', () => 'blocks/issuance', IssuanceOffer],
    ['the network metrics', () => 'network/metrics', NetworkMetrics],
  ]
  test.each(rows)('%s', async (_name, path, schema) => {
    const url = `${core}/${path()}`
    const json = await restJson(url)
    const raw = await rest(url, { headers: { accept: binary } })
    expect([raw.status, raw.headers.get('content-type')]).toEqual([200, binary])
    const value = decode(schema, new Uint8Array(await raw.arrayBuffer()))
    const changing = ['latestCommitmentId', 'status', 'latestParentBlockIssuingTime']
    expect(value.ok && without(changing, print(schema, value.value))).toEqual(
      without(changing, json),
    )
  })

  /** Removes the members that the next slot changes. */
  function without(names: readonly string[], json: unknown): unknown {
    const text = JSON.stringify(json, (key, value) => (names.includes(key) ? undefined : value))
    const value = JSON.parse(text)
    for (const name of ['strongParents', 'latestFinalizedSlot', 'latestCommitment'])
      if ('latestCommitment' in value) value[name] = typeof value[name]
    return value
  }
})

describe('an output', () => {
  test('that is spent has the spending transaction and its slot', async () => {
    const metadata = await restJson(`${core}/outputs/${spent}/metadata`)
    const slot = slotOfId(carrier.blockId)
    const genesis = await restJson(`${core}/commitments/by-slot/0`)
    expect(metadata).toEqual({
      outputId: spent,
      blockId: expect.stringMatching(/^0x[0-9a-f]{72}$/),
      included: {
        slot: 0,
        transactionId: spent.slice(0, 74),
        commitmentId: genesis && (await idOfSlot(0)),
      },
      spent: { slot, transactionId: payment.transactionId, commitmentId: await idOfSlot(slot) },
      latestCommitmentId: expect.stringMatching(/^0x[0-9a-f]{72}$/),
    })
  })

  test('of an uncommitted slot has no commitment', async () => {
    const offer = await offerOf(gateway.url)
    const next = paymentOf(offer.network, {
      spend: present(payment.created[0], 'an output'),
      key: user(1),
      outputs: [ownedBy(user(1), 400_000_000n)],
      creationSlot: slotNow(offer.network),
    })
    await acceptedId(await post(gateway.url, blockOf(offer, next.payload).bytes))
    const url = `${core}/outputs/${next.created[0]}/metadata`
    // The output is booked after the response.
    await until(async () => (await rest(url)).status !== 404)
    const { included } = await restJson(url)
    expect(included).toEqual({ slot: expect.any(Number), transactionId: next.transactionId })
  })

  async function idOfSlot(slot: number): Promise<string> {
    const raw = await rest(`${core}/commitments/by-slot/${slot}`, { headers: { accept: binary } })
    const commitment = decode(SlotCommitment, new Uint8Array(await raw.arrayBuffer()))
    return commitment.ok ? commitmentId(commitment.value) : ''
  }
})

describe('a transaction', () => {
  test('that was booked has a state and a block', async () => {
    const metadata = await restJson(`${core}/transactions/${payment.transactionId}/metadata`)
    expect(metadata).toEqual({
      transactionId: payment.transactionId,
      transactionState: expect.stringMatching(/^(committed|finalized)$/),
      earliestAttachmentSlot: slotOfId(carrier.blockId),
    })
    const block = await restJson(`${core}/transactions/${payment.transactionId}/included-block`)
    expect(block).toEqual(print(Block, carrier.block))
  })

  test('that failed has a state with the reason, and no including block', async () => {
    const url = `${core}/transactions/${failed.transactionId}`
    expect(await restJson(`${url}/metadata`)).toMatchObject({
      transactionState: 'failed',
      transactionFailureReason: expect.any(Number),
      transactionFailureDetails: expect.any(String),
    })
    expect((await rest(`${url}/included-block`)).status).toBe(404)
    expect((await rest(`${url}/included-block/metadata`)).status).toBe(404)
  })

  test('of the genesis is finalized, and has neither content nor a block', async () => {
    const { included } = await restJson(`${core}/outputs/${spent}/metadata`)
    const id = included.transactionId
    const url = `${core}/transactions/${id}`
    expect(await restJson(`${url}/metadata`)).toEqual({
      transactionId: id,
      transactionState: 'finalized',
      earliestAttachmentSlot: 0,
    })
    expect(await refusal(await rest(url))).toEqual([
      404,
      `the content of the genesis transaction ${id} does not exist`,
    ])
    for (const path of ['included-block', 'included-block/metadata']) {
      expect(await refusal(await rest(`${url}/${path}`))).toEqual([
        404,
        `the block that includes the transaction ${id} does not exist`,
      ])
    }
  })

  test('of the genesis has its outputs in GraphQL, and no block', async () => {
    const query = `query ($id: TransactionId!) { transaction(id: $id) {
      transactionId state slot blockId failure { code } content { __typename }
      inputs { outputId } outputs { outputId transactionId proof { slot } }
    } }`
    const transactionId = spent.slice(0, 74)
    const { data, errors } = await graphql(gateway.url, query, { id: transactionId })
    expect(errors).toBeUndefined()
    const { createdOutputs } = await restJson(`${core}/commitments/by-slot/0/utxo-changes`)
    expect(createdOutputs).toContain(spent)
    const indexOf = (id: string) => Buffer.from(id.slice(-4), 'hex').readUInt16LE()
    expect(data.transaction).toEqual({
      ...{
        transactionId,
        state: 'FINALIZED',
        slot: 0,
        blockId: null,
        failure: null,
        content: null,
      },
      inputs: [],
      outputs: createdOutputs
        .toSorted((a: string, b: string) => indexOf(a) - indexOf(b))
        .map((outputId: string) => ({ outputId, transactionId, proof: { slot: 0 } })),
    })
    // No output has this id of the same slot.
    const other = `0x${'ab'.repeat(32)}00000000`
    expect((await graphql(gateway.url, query, { id: other })).data).toEqual({ transaction: null })
  })
})

describe('a commitment', () => {
  test('is found by its id, by its slot, and as the newest by zeros', async () => {
    const slot = slotOfId(carrier.blockId)
    const { commitmentId: id, ...changes } = await restJson(
      `${core}/commitments/by-slot/${slot}/utxo-changes`,
    )
    expect(await restJson(`${core}/commitments/${id}`)).toEqual(
      await restJson(`${core}/commitments/by-slot/${slot}`),
    )
    expect(changes).toEqual({ createdOutputs: payment.created, consumedOutputs: [spent] })
    const newest = await restJson(`${core}/commitments/0x${'00'.repeat(36)}`)
    expect(newest.slot).toBeGreaterThanOrEqual(slot)
  })

  test('has the outputs of its changes', async () => {
    const slot = slotOfId(carrier.blockId)
    const full = await restJson(`${core}/commitments/by-slot/${slot}/utxo-changes/full`)
    const { output } = await restJson(`${core}/outputs/${spent}`)
    expect(full.consumedOutputs).toEqual([{ outputId: spent, output }])
    expect(full.createdOutputs).toHaveLength(2)
  })
})

describe('a path without a resource:', () => {
  const nowhere = 'ab'.repeat(36)
  const rows = [
    [`blocks/0x${nowhere}/full`, 404],
    [`outputs/0x${nowhere}0000/metadata`, 404],
    [`outputs/0x${nowhere}0000/full`, 404],
    [`transactions/0x${nowhere}`, 404],
    [`transactions/0x${nowhere}/metadata`, 404],
    [`transactions/0x${nowhere}/included-block`, 404],
    [`commitments/0x${nowhere}`, 404],
    [`commitments/0x${nowhere}/utxo-changes`, 404],
    ['commitments/by-slot/4294967295', 404],
    ['commitments/by-slot/4294967295/utxo-changes/full', 404],
    ['commitments/by-slot/4294967296', 400],
    ['commitments/by-slot/-1', 400],
    ['commitments/by-slot/1.5', 400],
    ['commitments/by-slot/%20', 400],
    ['commitments/0x00', 400],
    ['transactions/nothing', 400],
    ['transactions/%00', 400],
    ['transactions/%ff', 400],
    ['outputs/0x/metadata', 400],
  ] as const
  test.each(rows)('%s has the status %i', async (path, status) => {
    const [actual, message] = await refusal(await rest(`${core}/${path}`))
    expect(actual).toBe(status)
    expect(message).toMatch(/^[\w ]+/)
  })
})

describe('an uncommitted slot does not exist:', () => {
  const rows = ['by-slot/$', 'by-slot/$/utxo-changes', 'by-slot/$/utxo-changes/full'] as const
  test.each(rows)('commitments/%s', async (path) => {
    const { status } = await restJson(`${core}/info`)
    const next = status.latestFinalizedSlot + 100
    const response = await rest(`${core}/commitments/${path.replace('$', next)}`)
    expect(await refusal(response)).toEqual([404, `the commitment of slot ${next} does not exist`])
  })
})

test('the network is healthy and has blocks', async () => {
  expect(await restJson(`${core}/network/health`)).toEqual({ isNetworkHealthy: true })
  const metrics = await restJson(`${core}/network/metrics`)
  expect(Number(metrics.blocksPerSecond)).toBeGreaterThan(0)
  expect(Number(metrics.confirmationRate)).toBeLessThanOrEqual(100)
})

test('every route returns the same bytes of a block', async () => {
  const id: BlockId = carrier.blockId
  for (const path of [`blocks/${id}`, `transactions/${payment.transactionId}/included-block`]) {
    const raw = await rest(`${core}/${path}`, { headers: { accept: binary } })
    expect(bytesToHex(new Uint8Array(await raw.arrayBuffer()))).toBe(bytesToHex(carrier.bytes))
  }
})
