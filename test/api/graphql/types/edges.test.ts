import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../../src/lib/assert.ts'
import { addressKey } from '../../../../src/protocol/ids.ts'
import type { BlockId } from '../../../../src/protocol/primitives.ts'
import { addressText } from '../../../../src/service/addresses/address-text.ts'
import { type ListWorld, newestFirst, openListWorld, parties } from '../../../support/list-world.ts'
import { blockIdOf, outputIdOf, transactionIdOf, wholeLog } from '../../../support/store-rows.ts'

/** The edges of blocks, transactions, milestones, outputs and updates, and the number of statements that they take. */

let world: ListWorld

beforeAll(async () => {
  world = await openListWorld()
})
afterAll(() => world.close())

const ask = (source: string) => world.ask(source)

describe('edges', () => {
  test('lead from a block to its parents, children, milestone and transaction', async () => {
    const n = 14
    const { data, errors } = await ask(
      `{ block(id: "${blockIdOf(n)}") {
        parents { kind blockId block { blockId milestone { index } } } children { nodes { blockId } }
        milestone { index previous { index } next { index } blockCount transactionCount updateCount } transaction { transactionId block { blockId } carriers { nodes { blockId } } milestone { index } }
      } }`,
    )
    expect(errors).toBeUndefined()
    const row = present(world.kept[n], 'block')
    const transactionId = present(row.transactionId, 'a transaction')
    const transaction = present(await world.store.read.transaction(transactionId), 'transaction')
    const parents = [blockIdOf(11), blockIdOf(13)].sort()
    const carriers = world.kept
      .filter((one) => one.transactionId === transactionId)
      .sort(newestFirst)
    const blocks = await world.store.read.blocks(world.kept.map(({ blockId }) => blockId))
    const { spans } = await world.store.read.activity('SLOT', row.slot, row.slot)
    const updates = (await world.store.read.updates(wholeLog)).filter(
      ({ milestoneIndex }) => milestoneIndex === row.slot,
    )
    const slotOfBlock = (id: BlockId) =>
      present(
        world.kept.find(({ blockId }) => blockId === id),
        id,
      ).slot
    expect(data.block).toEqual({
      parents: parents.map((blockId) => ({
        kind: 'STRONG',
        blockId,
        block: { blockId, milestone: { index: slotOfBlock(blockId) } },
      })),
      children: { nodes: [blockIdOf(17), blockIdOf(15)].map((blockId) => ({ blockId })) },
      milestone: {
        index: row.slot,
        previous: { index: row.slot - 1 },
        next: { index: row.slot + 1 },
        blockCount: blocks.filter(({ slot, state }) => slot === row.slot && state === 'FINALIZED')
          .length,
        // The outputs of this log are of other transactions than those of its blocks.
        transactionCount: spans[0]?.accepted,
        updateCount: String(updates.length),
      },
      transaction: {
        transactionId,
        block: { blockId: transaction.blockId },
        carriers: { nodes: carriers.map(({ blockId }) => ({ blockId })) },
        milestone: transaction.state === 'FAILED' ? null : { index: transaction.slot },
      },
    })
  })

  test('are null without a target', async () => {
    const first = await ask(
      `{ block(id: "${blockIdOf(0)}") { parents { block { blockId } } commitment { index } transaction { state } }
         milestone(index: 0) { previous { index } } newest: milestone { next { index } }
         output(id: "${outputIdOf(0)}") { block { blockId } transaction { state } milestone { index } spentMilestone { index } spendingTransaction { state } } }`,
    )
    expect(first.errors).toBeUndefined()
    expect(first.data).toEqual({
      block: { parents: [{ block: null }], commitment: null, transaction: null },
      milestone: { previous: null },
      newest: { next: null },
      output: {
        block: { blockId: blockIdOf(0) },
        transaction: null,
        milestone: { index: 0 },
        spentMilestone: null,
        spendingTransaction: null,
      },
    })
  })

  test('lead from an output and an update to their origin', async () => {
    const { data, errors } = await ask(
      `{ ledgerUpdates(first: 20, sort: OLDEST, fromMilestone: 3, toMilestone: 3) { totalCount nodes { isSpent milestone { index } transaction { transactionId } } }
        output(id: "${outputIdOf(2)}") {
          block { slot } milestone { index } spentMilestone { index } spendingTransaction { transactionId }
      } }`,
    )
    expect(errors).toBeUndefined()
    const spending = {
      isSpent: true,
      milestone: { index: 3 },
      transaction: { transactionId: transactionIdOf(0) },
    }
    expect(data.ledgerUpdates.nodes).toContainEqual(spending)
    expect(data.ledgerUpdates.totalCount).toBe(String((await world.store.read.logTip()).seq))
    expect(data.output).toEqual({
      block: { slot: 2 },
      milestone: { index: 2 },
      spentMilestone: { index: 3 },
      spendingTransaction: { transactionId: transactionIdOf(0) },
    })
  })

  test('take at most 60 statements, on a small page and on a large one', async () => {
    const document = `query ($n: Int!) {
      blocks(first: $n) { nodes {
        milestone { index previous { index } } commitment { index }
        parents { block { milestone { index } parents { block { blockId } } } }
        children(first: 2) { nodes { blockId children(first: 1) { pageInfo { hasNextPage hasPreviousPage } } } }
        transaction { state block { blockId } carriers(last: 3) { nodes { blockId } } inputs { amount: outputId transaction { state } } outputs { outputId block { slot } } }
      } }
      transactions(first: $n) { nodes { milestone { index blocks(first: 2) { nodes { blockId } } transactions(first: 2) { nodes { state } } } } }
      milestones(first: $n) { nodes { next { index } blockCount transactionCount updates(first: 3) { nodes { seq milestone { index } transaction { state } } pageInfo { hasNextPage } } blocks(first: $n) { nodes { transaction { state } } pageInfo { hasNextPage } } } }
    }`
    const small = await world.askCounted(document, { n: 15 })
    const large = await world.askCounted(document, { n: 90 })
    expect(large.answer.data.blocks.nodes).toHaveLength(90)
    // Which levels of two branches are read together depends on the timing of the responses: 33 to 50 statements were measured.
    expect(small.statements).toBeLessThanOrEqual(60)
    expect(large.statements).toBeLessThanOrEqual(60)
  })

  test('take one more statement for a second address, and as many for pages of any size', async () => {
    const fields =
      'transactions(first: $n) { nodes { transactionId block { blockId } } pageInfo { hasNextPage hasPreviousPage } }'
    const [one, other] = parties.map((party) => addressText('tst', addressKey(party)))
    const ofOne = `query ($n: Int!) { one: address(address: "${one}") { ${fields} } }`
    const ofBoth = `query ($n: Int!) { one: address(address: "${one}") { ${fields} }
      other: address(address: "${other}") { ${fields} } }`
    const small = await world.askCounted(ofOne, { n: 2 })
    const large = await world.askCounted(ofOne, { n: 4 })
    expect(large.answer.data.one.transactions.nodes).toHaveLength(4)
    expect(large.statements).toBe(small.statements)
    const both = await world.askCounted(ofBoth, { n: 4 })
    expect(both.statements).toBe(small.statements + 1)
  })

  test.each([
    ['blocks', 'parents { block { parents { block { blockId } } } }'],
    ['blocks', 'children(first: 2) { nodes { children(first: 1) { nodes { blockId } } } }'],
    ['blocks', 'transaction { carriers(last: 3) { nodes { milestone { index } } } }'],
    ['transactions', 'block { milestone { previous { index } } }'],
    ['milestones', 'blocks(first: 3) { nodes { transaction { state } } }'],
    ['milestones', 'blockCount'],
    ['milestones', 'updates(first: 3) { nodes { output { spendingTransaction { state } } } }'],
  ])(
    'take exactly as many statements for pages of any size from %s { %s }',
    async (list, fields) => {
      const document = `query ($n: Int!) { ${list}(first: $n) { nodes { ${fields} } } }`
      const small = await world.askCounted(document, { n: 20 })
      const large = await world.askCounted(document, { n: 40 })
      expect(large.statements).toBe(small.statements)
    },
  )

  test.each([20, 40])(
    'take at most six statements for the transactions of %i updates',
    async (n) => {
      const { answer, statements } = await world.askCounted(
        'query ($n: Int!) { ledgerUpdates(first: $n) { nodes { isSpent transaction { state } } } }',
        { n },
      )
      expect(answer.data.ledgerUpdates.nodes).toHaveLength(n)
      // A spending transaction is known once its output has been read, which may be in time for the batch of the other transactions.
      expect([5, 5.5, 6]).toContain(statements)
    },
  )

  test.each([
    ['transactionId state slot failure { code }', 0],
    ['content { transaction { creationSlot } } inputs { amount }', 2],
    ['content { transaction { creationSlot } } block { issuedAt }', 1],
    ['milestone { index } block { issuedAt }', 3],
  ])('read the block of a transaction only for its fields: %s', async (fields, more) => {
    const ask = (selected: string) =>
      world.askCounted(`{ transactions(first: 20) { nodes { ${selected} } } }`, {})
    const { statements } = await ask('transactionId')
    expect((await ask(fields)).statements).toBe(statements + more)
  })
})
