import { describe, expect, test } from 'vitest'
import { compareLogEntries, ownerAt, slotEntries } from '../../../../src/ledger/updates.ts'
import { present } from '../../../../src/lib/assert.ts'
import { type Hex, hexToBytes } from '../../../../src/lib/hex.ts'
import { developmentParameters } from '../../../../src/node/embedded/development-parameters.ts'
import { Block, signedTransactionOf } from '../../../../src/protocol/block.ts'
import { addressKey, outputId } from '../../../../src/protocol/ids.ts'
import { Output } from '../../../../src/protocol/outputs.ts'
import type { OutputId } from '../../../../src/protocol/primitives.ts'
import { decode, encode } from '../../../../src/protocol/schema/schema.ts'
import { addressText } from '../../../../src/service/addresses/address-text.ts'
import { createChangeCache } from '../../../../src/service/blocks/change-cache.ts'
import { databases, useStore } from '../../../support/databases.ts'
import { askSchema } from '../../../support/graphql.ts'
import { unwrap } from '../../../support/log-store.ts'
import { createRandom } from '../../../support/random.ts'
import { randomOutput } from '../../../support/random-outputs.ts'
import {
  createdOutput,
  entry,
  incomingBlock,
  slotCommit,
  testGenesis,
  transactionIdOf,
} from '../../../support/store-rows.ts'
import { loadVectors, type Vector } from '../../../support/vectors.ts'

/** What transactions moved, compared with sums over all of their inputs and outputs. */

const parameters = { ...developmentParameters(0), bech32Hrp: 'tst' }
const [vector] = loadVectors<Vector & { bytes: Hex }>('transactions').filter(({ name }) =>
  name.endsWith('random-1'),
)

/** Returns the block of a vector with other inputs and outputs. */
function blockOf(inputs: readonly number[], outputs: readonly Output[]): Uint8Array {
  const block = decode(Block, hexToBytes(present(vector, 'a vector').bytes))
  if (!block.ok || block.value.body.type !== 0) throw new Error('not a basic block')
  const payload = present(signedTransactionOf(block.value), 'a transaction')
  const transaction = {
    ...payload.transaction,
    inputs: inputs.map((index) => ({
      type: 0 as const,
      transactionId: transactionIdOf(0),
      transactionOutputIndex: index,
    })),
    outputs,
  }
  const body = { ...block.value.body, payload: { ...payload, transaction } }
  return encode(Block, { ...block.value, body } as Block)
}

describe.each(databases)('changes on $name', ({ create }) => {
  const use = useStore(create)

  test.each([1, 2, 3])('are the sums of inputs and outputs (seed %i)', async (seed) => {
    const random = createRandom(seed)
    const spent = Array.from({ length: 8 }, () => randomOutput(random, 6, 4))
    const newOutputs = Array.from({ length: 6 }, () => randomOutput(random, 6, 4))
    const transactionId = transactionIdOf(1)
    const { write } = use.store
    await write.initialize(use.term, testGenesis({ commit: slotCommit(0) }))
    const inputs = spent.map((output, n) =>
      createdOutput(n, {
        outputId: outputId(transactionIdOf(0), n),
        bytes: encode(Output, output),
      }),
    )
    const outputs = newOutputs.map((output, n) =>
      createdOutput(n, {
        ...{ outputId: outputId(transactionId, n), bytes: encode(Output, output) },
        bookedSlot: 6,
      }),
    )
    const block = incomingBlock(1, {
      slot: 6,
      transactionId,
      bytes: blockOf([...spent.keys()], newOutputs),
    })
    const failing = incomingBlock(2, {
      slot: 6,
      transactionId: transactionIdOf(2),
      bytes: block.bytes,
    })
    const unknown = incomingBlock(3, {
      ...{ slot: 6, transactionId: transactionIdOf(3) },
      bytes: blockOf([77], newOutputs),
    })
    const blocks = [block, failing, unknown]
    await write.acceptBlocks(blocks)
    unwrap(
      await write.book(use.term, {
        blocks: blocks.map(({ blockId }) => ({ blockId, state: 'ACCEPTED' })),
        transactions: blocks.map(({ blockId, transactionId }) => ({
          ...{ blockId, slot: 6, allotments: [] },
          transactionId: present(transactionId, 'a transaction'),
          state: blockId === failing.blockId ? 'FAILED' : 'ACCEPTED',
          failureReason: blockId === failing.blockId ? 1 : undefined,
        })),
        created: [...inputs, ...outputs],
        spent: inputs.map(({ outputId }) => ({ outputId, spentSlot: 6, spentBy: transactionId })),
      }),
    )

    const moved = (list: readonly { outputId: OutputId }[], of: readonly Output[]) =>
      list.map(({ outputId }, n) => ({ outputId, output: present(of[n], 'an output') }))
    const own = { created: moved(outputs, newOutputs), consumed: moved(inputs, spent) }
    const entries = await slotEntries(parameters, 6, own)
    const before = [1, 2, 3, 4, 5].map((slot) => slotCommit(slot, [entry(1, slot)]))
    const all = [...entries, ...[1, 2, 3].map((n) => entry(n, 900 + n))].sort(compareLogEntries)
    unwrap(await write.closeSlots(use.term, 6))
    unwrap(await write.commitSlots(use.term, [...before, slotCommit(6, all)]))

    const ask = (id: Hex) =>
      askSchema(
        { store: use.store, parameters },
        `{ transaction(id: "${id}") { state changes { address { bech32 } sent received tokens { tokenId sent received } } } }`,
      )
    const { data, errors } = await ask(transactionId)
    expect(errors).toBeUndefined()
    expect(data.transaction.changes).toEqual(
      naiveChanges(spent, newOutputs, 6 + parameters.minCommittableAge),
    )
    const updates = await askSchema(
      { store: use.store, parameters },
      `{ transaction(id: "${transactionId}") { all: updates(first: 1000, sort: OLDEST) { ...U } some: updates(last: 3) { ...U } } }
       fragment U on LedgerUpdateConnection { totalCount nodes { address outputId isSpent class } pageInfo { hasNextPage hasPreviousPage } }`,
    )
    expect(updates.errors).toBeUndefined()
    const expected = entries.map(({ address, outputId, isSpent, class: updateClass }) => ({
      ...{ address: addressText('tst', address), outputId, isSpent, class: updateClass },
    }))
    const totalCount = String(entries.length)
    expect(updates.data.transaction).toEqual({
      all: {
        totalCount,
        nodes: expected,
        pageInfo: { hasNextPage: false, hasPreviousPage: false },
      },
      some: {
        totalCount,
        nodes: expected.slice(0, 3).reverse(),
        pageInfo: { hasNextPage: false, hasPreviousPage: true },
      },
    })
    expect((await ask(transactionIdOf(2))).data.transaction).toEqual({
      state: 'FAILED',
      changes: [],
    })
    const incomplete = await ask(transactionIdOf(3))
    expect(incomplete.data.transaction).toEqual({ state: 'FINALIZED', changes: null })
    expect(incomplete.errors?.map(({ extensions }) => extensions.code)).toEqual([
      'NOT_TOLD_BY_NODE',
    ])
  })
})

function naiveChanges(inputs: readonly Output[], outputs: readonly Output[], reached: number) {
  const ownerOf = (output: Output) => addressKey(ownerAt(output, reached))
  const tokenOf = (output: Output) =>
    'features' in output
      ? output.features.flatMap((feature) => ('id' in feature ? [feature] : []))[0]
      : undefined
  const sum = (list: readonly Output[], amountOf: (output: Output) => bigint) =>
    String(list.reduce((total, output) => total + amountOf(output), 0n))
  const owners = [...new Set([...inputs, ...outputs].map(ownerOf))]
  return owners.map((owner) => {
    const [sent, received] = [inputs, outputs].map((list) =>
      list.filter((output) => ownerOf(output) === owner),
    ) as [Output[], Output[]]
    const tokenIds = [...new Set([...sent, ...received].flatMap((one) => tokenOf(one)?.id ?? []))]
    return {
      address: { bech32: addressText('tst', owner) },
      sent: sum(sent, ({ amount }) => amount),
      received: sum(received, ({ amount }) => amount),
      tokens: tokenIds.map((tokenId) => {
        const amountOf = (output: Output) => {
          const token = tokenOf(output)
          return token?.id === tokenId ? token.amount : 0n
        }
        return {
          tokenId,
          sent: hexOf(sum(sent, amountOf)),
          received: hexOf(sum(received, amountOf)),
        }
      }),
    }
  })
}

/** Prints an amount of a native token. */
function hexOf(amount: string): string {
  return `0x${BigInt(amount).toString(16)}`
}

describe('cached changes', () => {
  const change = { address: '0x00', sent: 1n, received: 0n, tokens: [] } as const
  const transaction = { transactionId: transactionIdOf(1), slot: 6 }

  test.each([
    ['PENDING', false],
    ['ACCEPTED', false],
    ['COMMITTED', true],
    ['FINALIZED', true],
    ['FAILED', false],
  ] as const)('are those of committed transactions: %s', (state, isCached) => {
    const cache = createChangeCache()
    cache.set({ ...transaction, state }, [change])
    expect(cache.get({ ...transaction, state })).toEqual(isCached ? [change] : undefined)
    // Owners change by expiration: in another slot, the transaction would have moved something else.
    expect(cache.get({ ...transaction, slot: 7, state })).toBeUndefined()
  })

  test('have a bounded size, and those of the most recent transactions stay', () => {
    const cache = createChangeCache()
    const large = Array.from({ length: 256 }, () => change)
    const place = (n: number) =>
      ({ transactionId: transactionIdOf(n), slot: 6, state: 'FINALIZED' }) as const
    for (let n = 0; n < 200; n++) cache.set(place(n), large)
    expect(cache.get(place(0))).toBeUndefined()
    expect(cache.get(place(199))).toBe(large)
  })
})
