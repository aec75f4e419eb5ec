import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../../../src/api/graphql/schema.ts'
import { type Hex, hexToBytes } from '../../../../src/lib/hex.ts'
import { developmentParameters } from '../../../../src/node/embedded/development-parameters.ts'
import type { Json } from '../../../../src/protocol/schema/schema.ts'
import type { Store } from '../../../../src/store/contract.ts'
import { defaultDatabase, openedStore } from '../../../support/databases.ts'
import { fullSelection } from '../../../support/full-selection.ts'
import { askSchema } from '../../../support/graphql.ts'
import { unwrap } from '../../../support/log-store.ts'
import { plainJson } from '../../../support/plain-json.ts'
import {
  blockIdOf,
  createdOutput,
  outputIdOf,
  testGenesis,
  transactionIdOf,
} from '../../../support/store-rows.ts'
import { loadVectors, type Vector } from '../../../support/vectors.ts'

interface OutputVector extends Vector {
  readonly json: Json
  readonly bytes: Hex
}

interface AddressVector extends OutputVector {
  readonly bech32: { readonly [hrp: string]: string }
}

const vectors = loadVectors<OutputVector>('outputs').map((vector, n) => ({ ...vector, n }))
// After the others, each in a basic output of its own.
const addresses = loadVectors<AddressVector>('addresses').map((vector, i) => ({
  ...vector,
  n: vectors.length + i,
}))
const selection = fullSelection(schema, 'OutputContent', 12)
const database = await defaultDatabase().create()
let store: Store

beforeAll(async () => {
  store = await openedStore(database.url)
  const { term } = unwrap(await store.write.takeLease({ holder: 'test', ttlMs: 3_600_000 }))
  const outputs = [
    ...vectors.map(({ n, bytes }) => createdOutput(n, { bookedSlot: 0, bytes: hexToBytes(bytes) })),
    ...addresses.map(({ n, bytes }) => createdOutput(n, { bookedSlot: 0, bytes: heldBy(bytes) })),
  ]
  unwrap(await store.write.initialize(term, testGenesis({ outputs: [] })))
  // The outputs are booked and never committed, because some vectors hold more than the supply of a ledger.
  unwrap(
    await store.write.book(term, {
      blocks: [],
      transactions: [],
      created: outputs,
      spent: [{ outputId: outputIdOf(1), spentSlot: 1, spentBy: transactionIdOf(7) }],
    }),
  )
})
afterAll(async () => {
  await store.close()
  await database.remove()
})

/** Encodes a basic output without amount and mana that an address owns (codec reference 6). */
function heldBy(address: Hex): Uint8Array {
  return hexToBytes(`0x00${'00'.repeat(16)}0100${address.slice(2)}00`)
}

const ask = (source: string, n: number) =>
  askSchema(
    {
      store,
      parameters: {
        ...developmentParameters(0),
        bech32Hrp: 'rms',
        genesisSlot: 0,
        genesisUnixTimestamp: 0n,
        slotDurationInSeconds: 10,
        slotsPerEpochExponent: 13,
        minCommittableAge: 3,
      },
    },
    source,
    { id: outputIdOf(n) },
  )

describe('output', () => {
  test.each(vectors)('$name is returned with all its members', async ({ n, bytes, json }) => {
    const response = await ask(
      `query Whole($id: OutputId!) { output(id: $id) { bytes content { ...${selection.name} } } }
       ${selection.fragments}`,
      n,
    )
    expect(response.errors).toBeUndefined()
    expect(response.data.output.bytes).toBe(bytes)
    expect(plainJson(response.data.output.content)).toEqual(plainJson(json))
  })

  test.each(addresses)('$name is returned as Bech32 text', async ({ n, bech32 }) => {
    const response = await ask(
      `query Text($id: OutputId!) { output(id: $id) { owner { bech32 } content { unlockConditions {
        ... on AddressUnlockCondition { address { bech32 } } } } } }`,
      n,
    )
    const address = { bech32: bech32.rms }
    const content = { unlockConditions: [{ address }] }
    expect(response).toEqual({ data: { output: { owner: address, content } } })
  })

  const members = `outputId transactionId index blockId creationSlot bookedSlot
    isSpent spentSlot spentBy`

  test('an unspent output has its origin', async () => {
    const response = await ask(`query ($id: OutputId!) { output(id: $id) { ${members} } }`, 0)
    const id = outputIdOf(0)
    const bytes = Buffer.from(id.slice(2), 'hex')
    expect(response.data.output).toEqual({
      outputId: id,
      transactionId: id.slice(0, 74),
      index: bytes.readUInt16LE(36),
      creationSlot: bytes.readUInt32LE(32),
      blockId: blockIdOf(0),
      bookedSlot: 0,
      isSpent: false,
      spentSlot: null,
      spentBy: null,
    })
  })

  test('a spent output has the transaction that spent it', async () => {
    const response = await ask(`query ($id: OutputId!) { output(id: $id) { ${members} } }`, 1)
    const spent = { isSpent: true, spentSlot: 1, spentBy: transactionIdOf(7) }
    expect(response.data.output).toMatchObject(spent)
  })

  test('an unknown id is null', async () => {
    const response = await ask('query ($id: OutputId!) { output(id: $id) { index } }', 99_999)
    expect(response).toEqual({ data: { output: null } })
  })
})
