import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../../src/lib/assert.ts'
import { type Hex, hexToBytes } from '../../../../src/lib/hex.ts'
import { Output } from '../../../../src/protocol/outputs.ts'
import type { BlockId, OutputId, TransactionId } from '../../../../src/protocol/primitives.ts'
import { encode, type Json } from '../../../../src/protocol/schema/schema.ts'
import type { CreatedOutput, Store } from '../../../../src/store/contract.ts'
import { defaultDatabase, openedStore } from '../../../support/databases.ts'
import { askSchema } from '../../../support/graphql.ts'
import { unwrap } from '../../../support/log-store.ts'
import { parsed } from '../../../support/parsed.ts'
import {
  createdOutput,
  incomingBlock,
  testGenesis,
  transactionIdOf,
} from '../../../support/store-rows.ts'
import { loadVectors, type Vector } from '../../../support/vectors.ts'

interface TransactionVector extends Vector {
  readonly json: {
    readonly body: {
      readonly payload: {
        readonly transaction: {
          readonly inputs: readonly {
            readonly transactionId: Hex
            readonly transactionOutputIndex: number
          }[]
          readonly outputs: readonly Json[]
        }
      }
    }
  }
  readonly bytes: Hex
  readonly ids: { readonly blockId: BlockId }
  readonly transaction: {
    readonly transactionId: TransactionId
    readonly transactionCommitment: Hex
    readonly outputIds: readonly OutputId[]
  }
}

// Three different transactions: one pending, one booked, one failed.
const [pending, booked, failed] = loadVectors<TransactionVector>('transactions').filter(
  ({ name }) => /random-[123]$/.test(name),
)
const vectors = [pending, booked, failed].map((vector) => present(vector, 'vector'))
const database = await defaultDatabase().create()
let store: Store

beforeAll(async () => {
  store = await openedStore(database.url)
  const { term } = unwrap(await store.write.takeLease({ holder: 'test', ttlMs: 3_600_000 }))
  const spent = inputIdsOf(booked)
  const outputs = spent.map((outputId, n) => outputOf(outputId, n))
  unwrap(await store.write.initialize(term, testGenesis({ outputs })))
  await store.write.acceptBlocks(
    vectors.map(({ ids, bytes, transaction: { transactionId } }, n) =>
      incomingBlock(n, { blockId: ids.blockId, bytes: hexToBytes(bytes), transactionId }),
    ),
  )
  unwrap(
    await store.write.book(term, {
      blocks: [],
      transactions: [
        { ...bookingOf(booked), state: 'ACCEPTED', failureReason: undefined, allotments: [] },
        { ...bookingOf(failed), state: 'FAILED', failureReason: 3, allotments: [] },
      ],
      created: createdBy(present(booked, 'vector')),
      spent: spent.map((outputId) => ({
        outputId,
        spentSlot: 1,
        spentBy: present(booked, 'vector').transaction.transactionId,
      })),
    }),
  )
})
afterAll(async () => {
  await store.close()
  await database.remove()
})

function bookingOf(vector: TransactionVector | undefined) {
  const { ids, transaction } = present(vector, 'vector')
  return { transactionId: transaction.transactionId, blockId: ids.blockId, slot: 1 }
}

function inputIdsOf(vector: TransactionVector | undefined): readonly OutputId[] {
  const { inputs } = present(vector, 'vector').json.body.payload.transaction
  return inputs.map(({ transactionId, transactionOutputIndex }) => {
    const index = Buffer.alloc(2)
    index.writeUInt16LE(transactionOutputIndex)
    return `${transactionId}${index.toString('hex')}` as OutputId
  })
}

function createdBy({ json, ids, transaction }: TransactionVector): readonly CreatedOutput[] {
  const { outputs } = json.body.payload.transaction
  return transaction.outputIds.map((outputId, n) => ({
    ...outputOf(outputId, n),
    blockId: ids.blockId,
    bytes: encode(Output, parsed(Output, outputs[n])),
  }))
}

function outputOf(outputId: OutputId, n: number): CreatedOutput {
  return createdOutput(n, { outputId, bookedSlot: 0 })
}

const members = `transactionId blockId slot state failure { code name }
  inputs { outputId isSpent } outputs { outputId isSpent }`
const ask = (id: unknown) =>
  askSchema({ store }, `query ($id: TransactionId!) { transaction(id: $id) { ${members} } }`, {
    id,
  })

describe('a transaction', () => {
  test('has no inputs and outputs while it is pending', async () => {
    const { transactionId } = bookingOf(pending)
    const response = await ask(transactionId)
    expect(response.data.transaction).toEqual({
      ...bookingOf(pending),
      state: 'PENDING',
      failure: null,
      inputs: [],
      outputs: [],
    })
  })

  test('has its inputs and outputs in order when it is booked', async () => {
    const { transactionId } = bookingOf(booked)
    const response = await ask(transactionId)
    const inputs = inputIdsOf(booked)
    const outputs = present(booked, 'vector').transaction.outputIds
    expect(inputs.length * outputs.length).toBeGreaterThan(1)
    expect(response.data.transaction).toEqual({
      ...bookingOf(booked),
      state: 'ACCEPTED',
      failure: null,
      inputs: inputs.map((outputId) => ({ outputId, isSpent: true })),
      outputs: outputs.map((outputId) => ({ outputId, isSpent: false })),
    })
  })

  test('has the number and the name of its failure', async () => {
    const response = await ask(bookingOf(failed).transactionId)
    expect(response.data.transaction).toMatchObject({
      state: 'FAILED',
      failure: { code: 3, name: 'InputAlreadySpent' },
      outputs: [],
    })
  })

  test('is found by its block, with its content', async () => {
    const { blockId, transactionId } = bookingOf(booked)
    const response = await askSchema(
      { store },
      `query ($id: BlockId!) { block(id: $id) { transaction { transactionId
        content { type transaction { networkId inputs { ... on UTXOInput { transactionId } } } } } } }`,
      { id: blockId },
    )
    const { transaction } = present(booked, 'vector').json.body.payload
    expect(response.data.block.transaction).toMatchObject({
      transactionId,
      content: {
        type: 1,
        transaction: {
          inputs: transaction.inputs.map(({ transactionId }) => ({ transactionId })),
        },
      },
    })
  })

  test('has a proof for each of its outputs', async () => {
    const { transactionCommitment, outputIds } = present(booked, 'vector').transaction
    const response = await askSchema(
      { store },
      `query ($id: TransactionId!) { transaction(id: $id) { outputs { proof {
        slot outputIndex transactionCommitment outputCommitmentProof { __typename } } } } }`,
      { id: bookingOf(booked).transactionId },
    )
    expect(response.errors).toBeUndefined()
    const slot = Buffer.from(bookingOf(booked).transactionId.slice(-8), 'hex').readUInt32LE()
    const outputCommitmentProof = {
      __typename: expect.stringMatching(/^(HashableNode|ValueHash)$/),
    }
    expect(response.data.transaction.outputs).toEqual(
      outputIds.map((_, outputIndex) => ({
        proof: { slot, outputIndex, transactionCommitment, outputCommitmentProof },
      })),
    )
  })

  test('is null for an unknown id, and refused for a malformed one', async () => {
    expect(await ask(transactionIdOf(999))).toEqual({ data: { transaction: null } })
    const refused = await ask('0x1234')
    expect(refused.errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT'])
  })
})
