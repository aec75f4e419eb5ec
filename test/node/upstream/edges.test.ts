import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { creationSlotOf } from '../../../src/protocol/ids.ts'
import type { OutputId } from '../../../src/protocol/primitives.ts'
import { graphql } from '../../support/client.ts'
import { type OddNode, passOn, type Spoil, startOddNode } from '../../support/odd-node.ts'
import { rest } from '../../support/rest.ts'
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
  taggedData,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

/** Tests the links between objects in upstream mode: what the node does not report is null, and the rest is present. */

let real: TestGateway
let node: OddNode
let gateway: TestGateway
let outputId: string
let transactionId: string
let blockId: string

beforeAll(async () => {
  real = await startGateway()
  node = await startOddNode(real.url, passOn)
  gateway = await startGateway({ env: { LEDGER: 'upstream', UPSTREAM_URLS: node.url } })
  const offer = await offerOf(real.url)
  const key = user(1)
  const [spend] = await genesisOutputs(real.url, key)
  const outputs = [ownedBy(key, 400_000_000n), ownedBy(key, 600_000_000n)]
  const one = { key, spend: present(spend, 'funds'), outputs, creationSlot: slotNow(offer.network) }
  const payment = paymentOf(offer.network, one)
  const block = blockOf(offer, payment.payload)
  blockId = block.blockId
  await acceptedId(await post(real.url, block.bytes))
  await untilCommitted(gateway.url, slotNow(offer.network))
  transactionId = payment.transactionId
  outputId = present(payment.created[0], 'an output')
})
afterAll(async () => {
  await gateway.close()
  await node.close()
  await real.close()
})

const document = `query ($id: OutputId!) {
  output(id: $id) {
    transactionId milestone { index blockCount }
    transaction { transactionId changes { sent received } block { blockId parents { blockId block { state } } } }
  }
  ledgerUpdates(first: 3) { nodes { outputId milestone { index previous { index } } transaction { state } } }
}`

test('upstream mode returns what the embedded ledger returns, except what the node cannot report', async () => {
  const [embedded, upstream] = await Promise.all(
    [real, gateway].map((one) =>
      until(async () => {
        const answer = await graphql(one.url, document, { id: outputId })
        return answer.data?.output?.milestone == null ? undefined : answer
      }),
    ),
  )
  expect(embedded?.errors).toBeUndefined()
  const { output } = present(embedded, 'an answer').data
  expect(output).toMatchObject({ transactionId, transaction: { block: { blockId } } })
  expect(output.transaction.changes).toEqual([{ sent: '1000000000', received: '1000000000' }])
  const { transaction, milestone } = present(upstream, 'an answer').data.output
  expect(transaction.changes).toEqual(output.transaction.changes)
  expect(transaction.block.parents.length).toBe(output.transaction.block.parents.length)
  expect(milestone).toEqual({ index: output.milestone.index, blockCount: null })
  expect(upstream?.errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
    [['output', 'milestone', 'blockCount'], 'NOT_OFFERED_BY_NODES'],
  ])
})

test('a block that the node has accepted is acknowledged if the node does not report its state', async () => {
  const { bytes, blockId } = blockOf(await offerOf(real.url), taggedData('0x01', '0x02'))
  node.spoilBy((path, answer) => (path.includes(`/blocks/${blockId}`) ? 'HANG_UP' : answer))
  try {
    const { data, errors } = await graphql(
      gateway.url,
      `mutation ($bytes: Hex!) { submitBlock(input: { bytes: $bytes }) { blockId block { state } } }`,
      { bytes: bytesToHex(bytes) },
    )
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['submitBlock', 'block'], 'NOT_TOLD_BY_NODE'],
    ])
    expect(data).toEqual({ submitBlock: { blockId, block: null } })
  } finally {
    node.spoilBy(passOn)
  }
})

test('what the node does not report is null with its reason, also in lists', async () => {
  node.spoilBy(() => 'HANG_UP')
  try {
    const fresh = `query ($id: OutputId!) {
      output(id: $id) { transactionId milestone { index } spentSlot spendingTransaction { state } }
      milestones(first: 2) { nodes { index transactionCount updates { nodes { seq } } } }
      block(id: "0x${'ab'.repeat(32)}00000000") { state }
      ledgerUpdates(sort: OLDEST, first: 2) { nodes { seq output { amount: outputId block { state } } } }
    }`
    const { data, errors } = await graphql(gateway.url, fresh, { id: outputId })
    expect(data.output).toMatchObject({ transactionId, spentSlot: null, spendingTransaction: null })
    expect(data.milestones.nodes).toHaveLength(2)
    for (const { index, transactionCount } of data.milestones.nodes) {
      expect(index).toBeGreaterThan(0)
      expect(transactionCount).toBeNull()
    }
    expect(data.ledgerUpdates.nodes.map(({ seq }: { seq: string }) => seq)).toEqual(['1', '2'])
    const codes = new Set(errors?.map(({ extensions }) => extensions.code))
    expect(codes).toEqual(new Set(['NOT_OFFERED_BY_NODES', 'NOT_TOLD_BY_NODE']))
  } finally {
    node.spoilBy(passOn)
  }
})

describe.each(['on', 'off'])('what the nodes have removed, with proofs %s', (UPSTREAM_PROOFS) => {
  const removed: Spoil = (path, answer) =>
    /\/(blocks|transactions|outputs)\/0x/.test(path)
      ? { status: 404, body: '{"error":{"code":"404","message":"not found"}}' }
      : answer
  let follower: TestGateway
  let spend: string
  let created: string
  beforeAll(async () => {
    const offer = await offerOf(real.url)
    const key = user(UPSTREAM_PROOFS === 'on' ? 4 : 5)
    const [funds] = await genesisOutputs(real.url, key)
    spend = present(funds, 'funds')
    const outputs = [ownedBy(key, 1_000_000_000n)]
    const creationSlot = slotNow(offer.network)
    const payment = paymentOf(offer.network, { key, spend: spend as never, outputs, creationSlot })
    created = present(payment.created[0], 'an output')
    await acceptedId(await post(real.url, blockOf(offer, payment.payload).bytes))
    const env = { LEDGER: 'upstream', UPSTREAM_URLS: node.url, UPSTREAM_PROOFS }
    follower = await startGateway({ env })
    await untilCommitted(follower.url, creationSlot + 1)
    node.spoilBy(removed)
  })
  afterAll(async () => {
    node.spoilBy(passOn)
    await follower.close()
  })

  test('is null with an error that no repetition ends, never without one', async () => {
    // Computed from the slots that were followed with proofs.
    const hasProof = UPSTREAM_PROOFS === 'on'
    const query = `query ($spend: OutputId!, $created: OutputId!) {
      spent: output(id: $spend) { spendingTransaction { state } block { state } }
      created: output(id: $created) { outputId transaction { state } block { state } proof { slot } }
      ledgerUpdates(first: 1, sort: NEWEST) { nodes { transaction { state } } } }`
    const { data, errors } = await graphql(follower.url, query, { spend, created })
    expect(data).toEqual({
      spent: { spendingTransaction: null, block: null },
      created: {
        ...{ outputId: created, transaction: null, block: null },
        proof: hasProof ? { slot: creationSlotOf(created as OutputId) } : null,
      },
      ledgerUpdates: { nodes: [{ transaction: null }] },
    })
    expect(
      errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]).sort(),
    ).toEqual([
      ['created.block', 'NOT_KEPT_BY_NODE'],
      ...(hasProof ? [] : [['created.proof', 'NOT_KEPT_BY_NODE']]),
      ['created.transaction', 'NOT_KEPT_BY_NODE'],
      ['ledgerUpdates.nodes.0.transaction', 'NOT_KEPT_BY_NODE'],
      ['spent.spendingTransaction', 'NOT_KEPT_BY_NODE'],
    ])
  })

  test.runIf(UPSTREAM_PROOFS === 'on')(
    'is listed by its address, without its content',
    async () => {
      const address = addressOf(user(4))
      const query = `query ($address: String!, $spend: OutputId!) {
      output(id: $spend) { spentSlot }
      address(address: $address) { transactions(first: 1) {
        nodes { transactionId slot state blockId block { state } content { __typename } milestone { index } } } } }`
      const { data, errors } = await graphql(follower.url, query, { address, spend })
      const { spentSlot: slot } = data.output
      const transactionId = created.slice(0, 74)
      const known = { transactionId, slot, state: 'FINALIZED', milestone: { index: slot } }
      expect(data.address.transactions.nodes).toEqual([
        { ...known, blockId: null, block: null, content: null },
      ])
      const at = (field: string) => `address.transactions.nodes.0.${field}`
      expect(
        errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]).sort(),
      ).toEqual([
        [at('block'), 'NOT_KEPT_BY_NODE'],
        [at('content'), 'NOT_KEPT_BY_NODE'],
      ])
    },
  )

  test('is unknown over REST', async () => {
    const statusOf = async (path: string) =>
      (await rest(`${follower.url}/api/core/v3/outputs/${created}${path}`)).status
    const expected = UPSTREAM_PROOFS === 'on' ? 200 : 404
    expect([await statusOf(''), await statusOf('/metadata')]).toEqual([expected, expected])
  })
})

test('a transaction that is not included yet has no included block', async () => {
  const id = `0x${'ab'.repeat(32)}00000000`
  const pending: Spoil = (path, answer) => {
    if (!path.includes(id)) return answer
    if (!path.endsWith('/metadata')) return { status: 404, body: '{"error":{}}' }
    const transactionState = 'pending'
    const body = { transactionId: id, transactionState, earliestAttachmentSlot: 1 }
    return { status: 200, body: JSON.stringify(body) }
  }
  node.spoilBy(pending)
  const { status } = await rest(`${gateway.url}/api/core/v3/transactions/${id}/included-block`)
  node.spoilBy(passOn)
  expect(status).toBe(404)
})

test('the transactions of an address are refused when the log does not record what spent an output', async () => {
  const unproven = await startGateway({
    env: { LEDGER: 'upstream', UPSTREAM_URLS: real.url, UPSTREAM_PROOFS: 'off' },
  })
  try {
    const offer = await offerOf(real.url)
    const [payer, payee] = [user(2), user(3)]
    const [spend] = await genesisOutputs(real.url, payer)
    const slot = slotNow(offer.network)
    const outputs = [ownedBy(payee, 1_000_000_000n)]
    const one = { key: payer, spend: present(spend, 'funds'), outputs, creationSlot: slot }
    const payment = paymentOf(offer.network, one)
    await acceptedId(await post(real.url, blockOf(offer, payment.payload).bytes))
    for (const { url } of [real, gateway, unproven]) await untilCommitted(url, slot)
    const query = `query ($address: String!) { address(address: $address) {
      updateCount transactions(first: 1) { nodes { transactionId } } } }`
    const ask = (url: string) => graphql(url, query, { address: addressOf(payer) })
    for (const { url } of [real, gateway]) {
      const { transactions } = (await ask(url)).data.address
      expect(transactions.nodes).toEqual([{ transactionId: payment.transactionId }])
    }
    const { data, errors } = await ask(unproven.url)
    expect(data.address).toEqual({ updateCount: '2', transactions: null })
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['address', 'transactions'], 'NOT_OFFERED_BY_NODES'],
    ])
  } finally {
    await unproven.close()
  }
})
