import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { type Hex, hexToBytes } from '../../../../src/lib/hex.ts'
import { developmentParameters } from '../../../../src/node/embedded/development-parameters.ts'
import type { BlockId, TransactionId } from '../../../../src/protocol/primitives.ts'
import type { Json } from '../../../../src/protocol/schema/schema.ts'
import type { IncomingBlock } from '../../../../src/store/contract.ts'
import { fullSelection } from '../../../support/full-selection.ts'
import { askSchema } from '../../../support/graphql.ts'
import { type LogStore, openLogStore } from '../../../support/log-store.ts'
import { plainJson } from '../../../support/plain-json.ts'
import { blockIdOf, incomingBlock } from '../../../support/store-rows.ts'
import { loadVectors, type Vector } from '../../../support/vectors.ts'

interface BlockVector extends Vector {
  readonly json: Json
  readonly bytes: Hex
  readonly ids: { readonly blockId: BlockId; readonly slot: number }
  readonly transaction?: { readonly transactionId: TransactionId }
}

const vectors = [...loadVectors<BlockVector>('blocks'), ...loadVectors<BlockVector>('transactions')]
const selection = fullSelection(schema, 'BlockContent', 20)
let log: LogStore

beforeAll(async () => {
  log = await openLogStore()
  await log.store.write.acceptBlocks(vectors.map(rowOf))
})
afterAll(() => log.close())

function rowOf({ bytes, ids, transaction }: BlockVector, n: number): IncomingBlock {
  const { blockId } = ids
  const transactionId = transaction?.transactionId
  return incomingBlock(n, {
    blockId,
    slot: openSlotOf(ids),
    bytes: hexToBytes(bytes),
    transactionId,
  })
}

/** Slot 0 is closed, and one of the blocks was issued before it. */
function openSlotOf({ slot }: BlockVector['ids']): number {
  return Math.max(slot, 1)
}

const ask = (source: string, variables: Readonly<Record<string, unknown>>) =>
  askSchema({ store: log.store, parameters: { ...time, bech32Hrp: 'tst' } }, source, variables)

const time = {
  ...developmentParameters(0),
  genesisSlot: 0,
  genesisUnixTimestamp: 0n,
  slotDurationInSeconds: 10,
  slotsPerEpochExponent: 13,
  minCommittableAge: 3,
}

describe('block', () => {
  test.each(vectors)('$name is returned with all its members', async ({ ids, bytes, json }) => {
    const { blockId } = ids
    const response = await ask(
      `query Whole($id: BlockId!) { block(id: $id) { blockId slot state bytes content { ...${selection.name} } } }
       ${selection.fragments}`,
      { id: blockId },
    )
    expect(response.errors).toBeUndefined()
    const { content, ...rest } = response.data.block
    expect(rest).toEqual({ blockId, slot: openSlotOf(ids), state: 'PENDING', bytes })
    expect(plainJson(content)).toEqual(plainJson(json))
  })

  test('has its issuing time and issuer', async () => {
    const [vector] = vectors
    const response = await ask(
      'query ($id: BlockId!) { block(id: $id) { issuingTime issuerId transaction { state } } }',
      { id: vector?.ids.blockId },
    )
    const { issuerId } = incomingBlock(0)
    const block = { issuingTime: '1700000000000000000', issuerId, transaction: null }
    expect(response).toEqual({ data: { block } })
  })

  test('is null for an unknown id', async () => {
    const id = blockIdOf(999)
    expect(await ask('query ($id: BlockId!) { block(id: $id) { slot } }', { id })).toEqual({
      data: { block: null },
    })
  })

  test.each(['0x00', 'block', '', 7])('is refused for a malformed id: %s', async (id) => {
    const response = await ask('query ($id: BlockId!) { block(id: $id) { slot } }', { id })
    expect(response.errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT'])
    expect(response.errors?.[0]?.message).toMatch(/"\$id" got invalid value .*expected 0x/)
  })
})
