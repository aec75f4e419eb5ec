import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import type { OutputId } from '../../../src/protocol/primitives.ts'
import { print } from '../../../src/protocol/schema/schema.ts'
import { Payload } from '../../../src/protocol/transaction.ts'
import { graphql } from '../../support/client.ts'
import { changing, type OddNode, passOn, type Spoil, startOddNode } from '../../support/odd-node.ts'
import { rest, restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post, refusal, submit } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  type SignedBlock,
  slotNow,
  taggedData,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

/** Tests the responses of a gateway in upstream mode for what it does not store itself, and the blocks that it forwards. */

let real: TestGateway
let node: OddNode
let gateway: TestGateway
beforeAll(async () => {
  real = await startGateway()
  node = await startOddNode(real.url, passOn)
  gateway = await startGateway({ env: { LEDGER: 'upstream', UPSTREAM_URLS: node.url } })
})
afterAll(async () => {
  await gateway.close()
  await node.close()
  await real.close()
})

/** Runs some work while the node spoils its responses. */
async function spoiling<T>(spoil: Spoil, work: () => Promise<T>): Promise<T> {
  node.spoilBy(spoil)
  try {
    return await work()
  } finally {
    node.spoilBy(passOn)
    // The gateway may have backed off from the node.
    const offer = `${gateway.url}/api/core/v3/blocks/issuance`
    await until(async () => (await fetch(offer)).status === 200)
  }
}

async function newBlock(text: string): Promise<SignedBlock> {
  return blockOf(await offerOf(real.url), taggedData('0x', bytesToHex(Buffer.from(text))))
}

/** Submits a block to the node alone. */
async function blockOfNode(text: string): Promise<SignedBlock> {
  const signed = await newBlock(text)
  await acceptedId(await post(real.url, signed.bytes))
  return signed
}

const blockPath = (id: string) => `${gateway.url}/api/core/v3/blocks/${id}`

describe('a block that the gateway has not seen', () => {
  test('is requested once for concurrent clients', async () => {
    const { blockId, bytes } = await blockOfNode('shared')
    const before = node.asked.length
    const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(blockPath(blockId))))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const requested = node.asked.slice(before).filter((path) => path.includes(blockId))
    // A response is shared for a short time; under load 50 requests may take longer than that.
    expect(requested.length).toBeLessThan(20)
    const raw = await fetch(blockPath(blockId), { headers: { accept: binaryType } })
    expect(new Uint8Array(await raw.arrayBuffer())).toEqual(bytes)
  })

  test('is stored when it is final, and read without the node', async () => {
    const { blockId } = await blockOfNode('kept')
    const metadata = `${blockPath(blockId)}/metadata`
    await untilCommitted(gateway.url, slotNow((await offerOf(real.url)).network))
    await until(async () => (await restJson(metadata)).blockState === 'finalized')
    const state = await spoiling(
      () => 'HANG_UP',
      async () => (await restJson(metadata)).blockState,
    )
    expect(state).toBe('finalized')
  })

  test('that does not exist is requested once, and is null', async () => {
    const id = `0x${'ab'.repeat(32)}00000000`
    const before = node.asked.length
    for (let i = 0; i < 20; i++) expect((await rest(blockPath(id))).status).toBe(404)
    const { data, errors } = await graphql(gateway.url, blockQuery, { id })
    expect([data.block, errors]).toEqual([null, undefined])
    const requested = node.asked.slice(before).filter((path) => path.includes(id))
    expect(requested.length).toBeLessThanOrEqual(2 * 2)
  })

  test('that cannot be requested is null with the reason, and 503', async () => {
    const { blockId } = await blockOfNode('away')
    await spoiling(
      () => 'HANG_UP',
      async () => {
        const { data, errors } = await graphql(gateway.url, blockQuery, { id: blockId })
        expect([data.block, errors?.[0]?.extensions.code]).toEqual([null, 'NOT_TOLD_BY_NODE'])
        const refused = await rest(blockPath(blockId))
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      },
    )
  })

  const wrongBlocks: readonly (readonly [string, Spoil])[] = [
    ['a block with another id', swapped],
    ['not a block', (_path, answer) => ({ ...answer, body: new Uint8Array(200) })],
  ]
  test.each(wrongBlocks)('is rejected if it is %s', async (name, wrong) => {
    const { blockId } = await blockOfNode(name)
    const spoil: Spoil = (requested, answer) =>
      requested === path(blockId) ? wrong(requested, answer) : answer
    const answered = await spoiling(spoil, () => rest(blockPath(blockId)))
    expect(answered.status).toBe(503)
    expect(gateway.logged.some((line) => line.includes('node-told-something-else'))).toBe(true)
  })

  function swapped(_path: string, answer: { status: number; body: string | Uint8Array }) {
    const body = Uint8Array.from(answer.body as Uint8Array)
    body[200] = (body[200] ?? 0) ^ 1
    return { ...answer, body }
  }
})

describe('a forwarded block', () => {
  test('is available at once, and is not forwarded again', async () => {
    const { bytes, blockId } = await newBlock('handed on')
    expect(await acceptedId(await post(gateway.url, bytes))).toBe(blockId)
    const before = node.asked.filter((one) => one === '/api/core/v3/blocks').length
    expect(await acceptedId(await post(gateway.url, bytes))).toBe(blockId)
    expect(node.asked.filter((one) => one === '/api/core/v3/blocks').length).toBe(before)
    expect((await restJson(blockPath(blockId))).header).toBeDefined()
    expect((await restJson(`${real.url}/api/core/v3/blocks/${blockId}`)).header).toBeDefined()
  })

  test('that the node has lost is not pending for ever, and is forwarded again', async () => {
    const { bytes, blockId } = await newBlock('lost')
    const lost: Spoil = (requested, answer) =>
      requested.includes(blockId) ? { status: 404, body: notFound } : answer
    await spoiling(lost, async () => {
      await acceptedId(await post(gateway.url, bytes))
      expect((await restJson(`${blockPath(blockId)}/metadata`)).blockState).toBe('pending')
      const count = () => node.asked.filter((one) => one === '/api/core/v3/blocks').length
      const before = count()
      expect(await acceptedId(await post(gateway.url, bytes))).toBe(blockId)
      expect(count()).toBe(before + 1)
      await untilCommitted(gateway.url, slotNow((await offerOf(real.url)).network))
      await until(async () => (await rest(`${blockPath(blockId)}/metadata`)).status === 404)
    })
  })

  test('is rejected by the gateway if it is malformed or has a wrong signature', async () => {
    const { bytes } = await newBlock('not handed on')
    const before = node.asked.length
    const broken = Uint8Array.from(bytes)
    broken[bytes.length - 1] = (broken[bytes.length - 1] ?? 0) ^ 1
    expect((await refusal(await post(gateway.url, broken)))[1]).toContain('signature')
    expect((await post(gateway.url, bytes.subarray(1))).status).toBe(400)
    const posts = node.asked.slice(before).filter((one) => one === '/api/core/v3/blocks')
    expect(posts).toEqual([])
  })

  test('is rejected with the reason of the node', async () => {
    const offer = await offerOf(real.url)
    // An unknown parent, of a slot that is not too old.
    const strongParents = [`0x${'cd'.repeat(36)}` as const]
    const { bytes } = blockOf({ ...offer, strongParents: strongParents as never }, undefined)
    const [status, words] = await refusal(await post(real.url, bytes))
    expect(await refusal(await post(gateway.url, bytes))).toEqual([
      status,
      `the node refused the block: invalid data: ${words}`,
    ])
    const error = await submit(gateway.url, { bytes: bytesToHex(bytes) })
    expect(error).toMatchObject({ code: 'REFUSED_BY_NODE', reason: `invalid data: ${words}` })
    // Clients may cause any number of refusals.
    const logged = gateway.logged.map((line) => JSON.parse(line))
    const refusals = logged.filter(({ event }) => event === 'block-refused-by-node')
    expect(refusals.map(({ level }) => level)).toEqual(['debug', 'debug'])
  })

  const statuses = [
    ['of 500 with a reason, as from a node of IOTA', 500, 400],
    ['of 503', 503, 503],
    ['of 403 for a closed route', 403, 503],
  ] as const
  test.each(statuses)(
    'with a node response %s has the matching status',
    async (name, statusOfNode, expected) => {
      const { bytes } = await newBlock(name)
      const body = '{"error":{"code":"500","message":"filtered"}}'
      const spoil: Spoil = (requested, answer) =>
        requested === '/api/core/v3/blocks' ? { status: statusOfNode, body } : answer
      const answered = await spoiling(spoil, () => post(gateway.url, bytes))
      expect(answered.status).toBe(expected)
      if (expected === 400) expect((await refusal(answered))[1]).toContain('filtered')
    },
  )

  test('needs an issuer account if only its payload is submitted', async () => {
    const payload = JSON.stringify(print(Payload, taggedData('0x01', '0x02')))
    const [status, words] = await refusal(await post(gateway.url, payload))
    expect([status, words]).toEqual([503, expect.stringContaining('no issuer account')])
  })
})

test('the transaction of the genesis is known without the node', async () => {
  const [output = ''] = await genesisOutputs(gateway.url, user(4))
  const id = output.slice(0, 74)
  const before = node.asked.length
  const { data } = await graphql(gateway.url, transactionQuery, { id })
  expect(data.transaction).toEqual({ state: 'FINALIZED', failure: null })
  const metadata = await restJson(`${gateway.url}/api/core/v3/transactions/${id}/metadata`)
  expect(metadata.transactionState).toBe('finalized')
  expect(node.asked.slice(before).filter((path) => path.includes(id))).toEqual([])
})

describe('a failed transaction', () => {
  let spend: OutputId
  beforeAll(async () => {
    spend = present((await genesisOutputs(real.url, user(1)))[0], 'output')
    await acceptedId(await post(real.url, (await payment(400_000_000n)).block.bytes))
  })

  async function payment(amount: bigint) {
    const offer = await offerOf(real.url)
    const key = user(1)
    const outputs = [ownedBy(key, amount), ownedBy(user(2), 1_000_000_000n - amount)]
    const creationSlot = slotNow(offer.network)
    const { payload, transactionId } = paymentOf(offer.network, {
      key,
      spend,
      outputs,
      creationSlot,
    })
    return { block: blockOf(offer, payload), transactionId }
  }

  /** Waits until the node has judged a transaction. */
  const untilFailed = (id: string) =>
    until(async () => {
      const response = await rest(`${real.url}/api/core/v3/transactions/${id}/metadata`)
      return response.status === 200 && (await response.json()).transactionState === 'failed'
    })

  test('is returned with its reason by the gateway that received it', async () => {
    const { block, transactionId: id } = await payment(500_000_000n)
    await acceptedId(await post(gateway.url, block.bytes))
    await untilFailed(id)
    const { data } = await graphql(gateway.url, transactionQuery, { id })
    expect(data.transaction.state).toBe('FAILED')
    expect(data.transaction.failure.code).toBeGreaterThan(0)
    const metadata = await restJson(`${gateway.url}/api/core/v3/transactions/${id}/metadata`)
    expect(metadata.transactionState).toBe('failed')
  })

  test('of another submitter is returned once its block was requested', async () => {
    const { block, transactionId: id } = await payment(510_000_000n)
    await acceptedId(await post(real.url, block.bytes))
    await untilFailed(id)
    const { blockId } = block
    const { data, errors } = await graphql(gateway.url, carriedQuery, { id: blockId })
    expect(errors).toBeUndefined()
    expect(data.block.transaction).toMatchObject({ transactionId: id, state: 'FAILED' })
    const alone = await graphql(gateway.url, transactionQuery, { id })
    expect(alone.data.transaction.state).toBe('FAILED')
  })

  test.each([99, undefined])('may have the reason %s, which is not known here', async (reason) => {
    const { block, transactionId: id } = await payment(520_000_000n + BigInt(reason ?? 0))
    await acceptedId(await post(gateway.url, block.bytes))
    await untilFailed(id)
    const spoil = changing(`${id}/metadata`, (one) => ({
      ...one,
      transactionFailureReason: reason,
    }))
    const { data } = await spoiling(spoil, () => graphql(gateway.url, transactionQuery, { id }))
    expect(data.transaction).toEqual({ state: 'FAILED', failure: { code: reason ?? 0 } })
  })
})

test('a recent output is proved without a request to the node', async () => {
  const offer = await offerOf(real.url)
  const key = user(3)
  const [spend] = await genesisOutputs(real.url, key)
  const outputs = [ownedBy(key, 400_000_000n), ownedBy(key, 600_000_000n)]
  const creationSlot = slotNow(offer.network)
  const one = { key, spend: present(spend, 'funds'), outputs, creationSlot }
  const { payload, created } = paymentOf(offer.network, one)
  await acceptedId(await post(real.url, blockOf(offer, payload).bytes))
  await untilCommitted(gateway.url, slotNow(offer.network))
  const before = node.asked.length
  for (const id of created) {
    const full = `/api/core/v3/outputs/${id}/full`
    const { latestCommitmentId: _, ...expected } = (await restJson(real.url + full)).metadata
    const answer = await restJson(gateway.url + full)
    expect(answer.metadata).toMatchObject(expected)
    const { outputIdProof } = await restJson(`${real.url}/api/core/v3/outputs/${id}`)
    expect(answer.outputIdProof).toEqual(outputIdProof)
  }
  const requested = node.asked.slice(before).filter((path) => path.includes('/outputs/'))
  expect(requested).toEqual([])
})

describe('data that is derived from accounts and blocks', () => {
  test('equals the response of the node if it has one', async () => {
    const account = (await restJson(`${real.url}/api/core/v3/committee`)).committee[0]?.address
    const address = account ?? addressOf(user(0))
    const paths = [`accounts/${address}/congestion`, 'validators?pageSize=1', 'committee']
    for (const one of paths.map((rest) => `/api/core/v3/${rest}`)) {
      const expected = await restJson(real.url + one)
      const { slot: _, ...again } = await restJson(gateway.url + one)
      expect(expected).toMatchObject(again)
    }
    expect(
      (await rest(`${gateway.url}/api/core/v3/accounts/${addressOf(user(0))}/congestion`)).status,
    ).toBe(400)
  })

  test('is rejected with a named error if nodes cannot return it', async () => {
    const path = `${gateway.url}/api/explorer/v2/milestones/by-index/1/blocks`
    expect((await rest(path)).status).toBe(501)
    const accountId = (await offerOf(real.url)).header.issuerId
    const { data, errors } = await graphql(gateway.url, accountQuery, { id: accountId })
    expect(data.account).toEqual({ entry: null, output: { isSpent: false } })
    expect(errors?.[0]?.extensions.code).toBe('NOT_OFFERED_BY_NODES')
  })

  test("is not returned if the node's response has another form", async () => {
    const spoil = changing('/core/v3/committee', () => ({ committee: 'nobody' }))
    const answered = await spoiling(spoil, () => rest(`${gateway.url}/api/core/v3/committee`))
    expect(answered.status).toBe(503)
  })
})

const binaryType = 'application/vnd.iota.serializer-v2'
const path = (id: string) => `/api/core/v3/blocks/${id}`
const blockQuery = 'query ($id: BlockId!) { block(id: $id) { state } }'
const notFound = '{"error":{"code":"404","message":"not found"}}'
const carriedQuery =
  'query ($id: BlockId!) { block(id: $id) { transaction { transactionId state } } }'
const transactionQuery =
  'query ($id: TransactionId!) { transaction(id: $id) { state failure { code } } }'
const accountQuery =
  'query ($id: AccountId!) { account(id: $id) { entry { credits } output { isSpent } } }'
