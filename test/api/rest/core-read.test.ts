import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inputIds } from '../../../src/ledger/resolve.ts'
import { present } from '../../../src/lib/assert.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { Block } from '../../../src/protocol/block.ts'
import { OutputIdProof, type ProofNode } from '../../../src/protocol/commitment.ts'
import { blake2b256 } from '../../../src/protocol/hash.ts'
import { indexOf, slotOfId, transactionIdOf, transactionOf } from '../../../src/protocol/ids.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import type { CommitmentId, OutputId } from '../../../src/protocol/primitives.ts'
import { proofRoot } from '../../../src/protocol/proofs.ts'
import { encode, print } from '../../../src/protocol/schema/schema.ts'
import { slotOfTime } from '../../../src/protocol/slots.ts'
import { graphql } from '../../support/client.ts'
import { parsed } from '../../support/parsed.ts'
import { rest as askRest, restJson } from '../../support/rest.ts'
import { createSettableClock } from '../../support/settable-clock.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, binary, post, refusal } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  type Payment,
  paymentOf,
  type SignedPayment,
  slotNow,
  taggedData,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

let gateway: TestGateway
let core: string
beforeAll(async () => {
  gateway = await startGateway()
  core = `${gateway.url}/api/core/v3`
})
afterAll(() => gateway.close())

/** Submits a payload in a block of its own. */
async function send(payload: Parameters<typeof blockOf>[1]): Promise<string> {
  const { bytes, blockId } = blockOf(await offerOf(gateway.url), payload)
  expect(await acceptedId(await post(gateway.url, bytes))).toBe(blockId)
  return blockId
}

/** Creates a transaction of a user who spends an output and splits it, except for the given changes. */
async function paymentBy(index: number, changes: Partial<Payment> = {}): Promise<SignedPayment> {
  const { network } = await offerOf(gateway.url)
  const key = user(index)
  const spend = changes.spend ?? present((await genesisOutputs(gateway.url, key))[0], 'output')
  const outputs = [ownedBy(key, 400_000_000n), ownedBy(key, 600_000_000n)]
  return paymentOf(network, { key, outputs, creationSlot: slotNow(network), ...changes, spend })
}

describe('a block', () => {
  test('is returned as JSON, as bytes, and with its state', async () => {
    const { block, bytes, blockId } = blockOf(
      await offerOf(gateway.url),
      taggedData('0x746167', '0x'),
    )
    await acceptedId(await post(gateway.url, bytes))
    expect(await restJson(`${core}/blocks/${blockId}`)).toEqual(print(Block, block))
    const raw = await askRest(`${core}/blocks/${blockId}`, { headers: { accept: binary } })
    expect([raw.status, raw.headers.get('content-type')]).toEqual([200, binary])
    expect(bytesToHex(new Uint8Array(await raw.arrayBuffer()))).toBe(bytesToHex(bytes))
    const metadata = await restJson(`${core}/blocks/${blockId}/metadata`)
    expect(metadata).toEqual({ blockId, blockState: expect.stringMatching(/^(pending|accepted)$/) })
    await untilCommitted(gateway.url, slotOfId(blockId))
    expect(await restJson(`${core}/blocks/${blockId}/metadata`)).toEqual({
      blockId,
      blockState: 'finalized',
    })
  })

  const nowhere = `0x${'ab'.repeat(36)}`

  test('and an output may be cached for ever, and their states may not', async () => {
    const { bytes, blockId } = blockOf(await offerOf(gateway.url), taggedData('0x6b656570', '0x'))
    await acceptedId(await post(gateway.url, bytes))
    const [outputId] = await genesisOutputs(gateway.url, user(0))
    const cachingOf = async (path: string, headers = {}) =>
      (await askRest(`${core}/${path}`, { headers })).headers.get('cache-control')
    const forever = 'public, max-age=31536000, immutable'
    expect(await cachingOf(`blocks/${blockId}`)).toBe(forever)
    expect(await cachingOf(`blocks/${blockId}`, { accept: binary })).toBe(forever)
    expect(await cachingOf(`outputs/${outputId}`)).toBe(forever)
    const changing = [
      ...[`blocks/${blockId}/metadata`, `blocks/${blockId}/full`, `blocks/${nowhere}`],
      ...[`outputs/${outputId}/metadata`, `outputs/${outputId}/full`],
    ]
    for (const path of changing) expect(await cachingOf(path), path).toBe('no-cache')
  })

  const rows = [
    ['blocks', nowhere, 404, `the block ${nowhere} does not exist`],
    [`blocks`, `${nowhere}/metadata`, 404, `the block ${nowhere} does not exist`],
    ['blocks', '0xab', 400, 'blockId: expected 36 bytes as hexadecimal digits with the prefix 0x'],
    ['outputs', `${nowhere}0000`, 404, `the output ${nowhere}0000 does not exist`],
    [
      'outputs',
      nowhere,
      400,
      'outputId: expected 38 bytes as hexadecimal digits with the prefix 0x',
    ],
  ] as const
  test.each(rows)('is refused at %s/%s', async (kind, rest, status, message) => {
    expect(await refusal(await askRest(`${core}/${kind}/${rest}`))).toEqual([status, message])
  })
})

describe('an output', () => {
  test('of the genesis has a proof that leads to its id', async () => {
    for (const id of await genesisOutputs(gateway.url, user(0))) await expectProven(id)
  })

  const rows = [
    [1, 2],
    [2, 3],
    [3, 4],
    [5, 5],
    [8, 6],
  ] as const
  test.each(rows)(
    'among %i of a transaction has a proof that leads to its id',
    async (count, index) => {
      const key = user(index)
      const each = 1_000_000_000n / BigInt(count)
      const rest = 1_000_000_000n - each * BigInt(count - 1)
      const outputs = Array.from({ length: count }, (_, i) => ownedBy(key, i === 0 ? rest : each))
      const payment = await paymentBy(index, { outputs })
      await send(payment.payload)
      await whenBooked(payment)
      expect(payment.created.length).toBe(count)
      for (const id of payment.created) await expectProven(id)
    },
  )

  async function expectProven(id: OutputId): Promise<void> {
    const { output: json, outputIdProof } = await restJson(`${core}/outputs/${id}`)
    const output = parsed(Output, json)
    const proof = parsed(OutputIdProof, outputIdProof)
    const root = bytesToHex(proofRoot(proof.outputCommitmentProof))
    const { slot, outputIndex, transactionCommitment } = proof
    expect(transactionIdOf(transactionCommitment, root, slot)).toBe(transactionOf(id))
    expect(outputIndex).toBe(indexOf(id))
    const leaf = blake2b256(Uint8Array.of(0), encode(Output, output))
    expect(valuesIn(proof.outputCommitmentProof)).toEqual([bytesToHex(leaf)])
    const raw = await askRest(`${core}/outputs/${id}`, { headers: { accept: binary } })
    const expected = Buffer.concat([encode(Output, output), encode(OutputIdProof, proof)])
    expect(bytesToHex(new Uint8Array(await raw.arrayBuffer()))).toBe(bytesToHex(expected))
  }
})

describe('of two transactions that spend the same output', () => {
  const rows = [
    ['at the same time, the second is a conflict', 1, false, { code: 1, name: 'ConflictRejected' }],
    [
      'before and after a commit, the second is too late',
      7,
      true,
      { code: 3, name: 'InputAlreadySpent' },
    ],
  ] as const
  test.each(rows)('%s', async (_name, index, isLate, failure) => {
    const [first, second] = [
      await paymentBy(index),
      await paymentBy(index, { outputs: [ownedBy(user(index), 1_000_000_000n)] }),
    ]
    const firstBlock = await send(first.payload)
    if (isLate) await untilCommitted(gateway.url, slotOfId(firstBlock as CommitmentId))
    const secondBlock = await send(second.payload)
    expect(await whenBooked(second)).toEqual({ state: 'FAILED', failure, blockId: secondBlock })
    expect(await whenBooked(first)).toMatchObject({ failure: null, blockId: firstBlock })
    expect((await restJson(`${core}/blocks/${secondBlock}/metadata`)).blockState).toBe('accepted')
    expect((await askRest(`${core}/outputs/${second.created[0]}`)).status).toBe(404)
    await untilCommitted(gateway.url, slotOfId(secondBlock as CommitmentId))
    expect(await rowsAbout([...first.created, ...second.created, spentBy(first)])).toEqual(
      [...first.created.map((id) => `${id} created`), `${spentBy(first)} spent`].sort(),
    )

    /** Returns the entries of the log since genesis for these outputs. */
    async function rowsAbout(ids: readonly string[]): Promise<string[]> {
      const path = `/api/explorer/v2/ledger/updates/by-address/${addressOf(user(index))}`
      const { items } = await restJson(gateway.url + path)
      return items
        .filter((item: Item) => ids.includes(item.outputId) && item.milestoneIndex > 0)
        .map((item: Item) => `${item.outputId} ${item.isSpent ? 'spent' : 'created'}`)
        .sort()
    }
  })

  interface Item {
    readonly outputId: string
    readonly isSpent: boolean
    readonly milestoneIndex: number
  }
})

describe('a transaction in two blocks', () => {
  test('is booked once, for the first', async () => {
    const payment = await paymentBy(9)
    const first = await send(payment.payload)
    const second = await send(payment.payload)
    expect(second).not.toBe(first)
    expect(await whenBooked(payment)).toEqual({ state: 'ACCEPTED', failure: null, blockId: first })
    const { data } = await graphql(
      gateway.url,
      `{ block(id: "${second}") { transaction { transactionId blockId } } }`,
    )
    const { transactionId } = payment
    expect(data.block.transaction).toEqual({ transactionId, blockId: first })
  })
})

describe('a transaction that breaks a rule of the ledger fails, and its block does not', () => {
  const owner = 8
  const rows: readonly (readonly [string, () => Promise<Partial<Payment>>, string])[] = [
    ['the key of another', async () => ({ key: user(1) }), 'UnlockSignatureInvalid'],
    [
      'more base tokens than there are',
      async () => ({ outputs: [ownedBy(user(owner), 1_000_000_001n)] }),
      'InputOutputBaseTokenMismatch',
    ],
    [
      'mana from nothing',
      async () => ({ outputs: [{ ...ownedBy(user(owner), 1_000_000_000n), mana: 2n ** 60n }] }),
      'InputOutputManaMismatch',
    ],
    [
      'an output that does not exist',
      async () => ({ spend: `0x${'ab'.repeat(32)}000000000000` as OutputId }),
      'Orphaned',
    ],
    [
      'a commitment that does not exist',
      async () => ({ commitment: await unknownCommitment() }),
      'CommitmentInputReferenceInvalid',
    ],
  ]
  test.each(rows)('%s', async (_name, changes, name) => {
    const changed = await changes()
    const spend = present((await genesisOutputs(gateway.url, user(owner)))[0], 'output')
    const payment = await paymentBy(owner, { spend, ...changed })
    const blockId = await send(payment.payload)
    const booked = await whenBooked(payment)
    expect(booked).toMatchObject({ state: 'FAILED', failure: { name }, blockId })
    // A transaction waits for a missing input until the slot is committed.
    const { blockState } = await restJson(`${core}/blocks/${blockId}/metadata`)
    expect(blockState).toMatch(name === 'Orphaned' ? /^(accepted|finalized)$/ : /^accepted$/)
  })

  async function unknownCommitment(): Promise<CommitmentId> {
    const { header } = await offerOf(gateway.url)
    return `0x${'22'.repeat(32)}${header.slotCommitmentId.slice(-8)}` as CommitmentId
  }
})

test('after slots were committed in a batch a young commitment is offered to issuers', async () => {
  // The clock stands still: the offer names the slot before the newest one, and both were committed in the batch.
  const clock = createSettableClock(BigInt(Date.now()) * 1_000_000n)
  const fresh = await startGateway({ clock })
  const { network, header } = await offerOf(fresh.url)
  const { parameters } = network
  const age = slotOfTime(parameters, clock.nowNs()) - slotOfId(header.slotCommitmentId)
  expect(age).toBe(parameters.minCommittableAge + 1)
  await fresh.close()
})

/** Waits until a transaction is booked, and returns its state. */
async function whenBooked({ transactionId }: SignedPayment): Promise<object> {
  const query = `{ transaction(id: "${transactionId}") { state failure { code name } blockId } }`
  return until(async () => {
    const { data } = await graphql(gateway.url, query)
    return data.transaction.state !== 'PENDING' && data.transaction
  })
}

function spentBy({ payload }: SignedPayment): string {
  const [input] = inputIds(payload.transaction)
  return present(input, 'input')
}

/** Returns the value hashes among the nodes of a proof. */
function valuesIn(node: ProofNode): string[] {
  if (node.type === 0) return [...valuesIn(node.l), ...valuesIn(node.r)]
  return node.type === 2 ? [node.hash] : []
}
