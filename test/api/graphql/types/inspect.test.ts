import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placedFieldCost } from '../../../../src/api/graphql/execution/prices.ts'
import { present } from '../../../../src/lib/assert.ts'
import { bytesToHex, type Hex } from '../../../../src/lib/hex.ts'
import { openSignatureChecker } from '../../../../src/node/signatures.ts'
import { print } from '../../../../src/protocol/schema/schema.ts'
import { slotEnd } from '../../../../src/protocol/slots.ts'
import { SignedTransaction } from '../../../../src/protocol/transaction.ts'
import type { Services } from '../../../../src/service/services.ts'
import { askBothWays } from '../../../support/both-ways.ts'
import { graphql } from '../../../support/client.ts'
import { askSchema } from '../../../support/graphql.ts'
import { startWorld, worldParameters } from '../../../support/ledger-world.ts'
import type { GraphqlAnswer } from '../../../support/serve-log.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'
import { acceptedId, post } from '../../../support/submit.ts'
import { vectorNetworks } from '../../../support/vector-networks.ts'
import { loadVectors, type Vector } from '../../../support/vectors.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  taggedData,
  user,
} from '../../../support/wallet.ts'

/** The inspection of a value whose type is not declared. */

interface PartVector extends Vector {
  readonly json: object
  readonly bytes: Hex
  readonly storageScore: { readonly standard: string }
  readonly minimumAmount: { readonly standard: string }
  readonly bech32: { readonly smr: string; readonly rms: string }
  readonly expect: { readonly json: string; readonly binary: string }
}

const query = `query ($input: InspectInput!) { inspect(input: $input) {
  __typename
  ... on BlockInspection { json bytes blockId transaction { transactionId } }
  ... on TransactionInspection { json bytes transactionId }
  ... on OutputInspection { json bytes storageScore minimumAmount content { amount } }
  ... on AddressInspection { json bytes address { bech32 } }
  ... on BrokenRule { code path offset message }
} }`

const signatures = openSignatureChecker({ queueLimit: 64 })
afterAll(() => signatures.close())

async function inspect(input: object, document = query) {
  const network = present(vectorNetworks.get('standard'), 'parameters')
  const source = { network } as Services['source']
  const { data, errors } = await askSchema(
    { source, signatures, parameters: network.parameters },
    document,
    { input },
  )
  expect(errors).toBeUndefined()
  return data.inspect
}

describe('the type of a value is detected in each form:', () => {
  const accepted = (file: string) =>
    loadVectors<PartVector>(file).filter(({ expect: { json, binary } }) => json === binary)

  test.each(accepted('outputs').filter((_, n) => n % 5 === 0))('$name', async (vector) => {
    const { json, bytes, storageScore, minimumAmount } = vector
    for (const input of [{ json }, { bytes }]) {
      const { content, ...found } = await inspect(input)
      expect(found).toEqual({
        __typename: 'OutputInspection',
        ...{ json, bytes, storageScore: storageScore.standard },
        minimumAmount: minimumAmount.standard,
      })
      expect(content).toMatchObject('amount' in json ? { amount: json.amount } : {})
    }
  })

  test.each(accepted('addresses').filter((_, n) => n % 5 === 0))('$name', async (vector) => {
    const { json, bytes } = vector
    const __typename = 'AddressInspection'
    const byJson = await inspect({ json })
    expect(byJson).toMatchObject({ __typename, json, bytes })
    expect(await inspect({ bytes })).toEqual(byJson)
    const { address } = await inspect({ bech32: vector.bech32.rms })
    expect(address).toEqual(byJson.address)
  })

  test.each(loadVectors<PartVector>('transactions').filter((_, n) => n % 20 === 0))(
    '$name',
    async ({ json, bytes }) => {
      const block = await inspect({ bytes })
      expect(block).toMatchObject({ __typename: 'BlockInspection', bytes })
      expect(await inspect({ json })).toEqual(block)
      const { payload } = block.json.body
      const transaction = await inspect({ json: payload })
      expect(transaction).toMatchObject({ __typename: 'TransactionInspection', json: payload })
      expect(transaction.transactionId).toBe(block.transaction.transactionId)
      expect(await inspect({ bytes: transaction.bytes })).toEqual(transaction)
    },
  )
})

describe('an inspection of JSON or bytes has each field with its position in the bytes:', () => {
  const document = `query ($input: InspectInput!) { inspect(input: $input) {
    ... on BlockInspection { bytes fields { ...Place } transaction { bytes fields { ...Place } } }
    ... on OutputInspection { bytes fields { ...Place } }
    ... on AddressInspection { bytes fields { ...Place } }
  } }
  fragment Place on SerializedField { path offset length value }`

  interface Inspected {
    readonly bytes: Hex
    readonly fields: readonly {
      readonly path: string
      readonly offset: number
      readonly length: number
      readonly value: string | null
    }[]
  }

  /** The leaves together cover all bytes, and the value of a leaf of bytes equals the bytes at its position. */
  function expectWhole({ bytes, fields }: Inspected): void {
    let end = 0
    for (const { path, offset, length, value } of fields) {
      if (value === null) continue
      expect(offset, path).toBe(end)
      end += length
      if (!value.startsWith('0x')) continue
      expect(bytes.slice(2 + 2 * offset, 2 + 2 * end), path).toMatch(
        new RegExp(`${value.slice(2)}$`),
      )
    }
    expect(end).toBe((bytes.length - 2) / 2)
  }

  test.each(['transactions', 'outputs', 'addresses'])('%s', async (file) => {
    const vectors = loadVectors<PartVector>(file).filter(
      ({ expect: { json, binary } = { json: '', binary: '' } }, n) =>
        json === binary && n % 12 === 0,
    )
    expect(vectors.length).toBeGreaterThan(3)
    for (const { json, bytes } of vectors) {
      const { transaction, ...found } = await inspect({ json }, document)
      expect(found.bytes).toBe(bytes)
      expectWhole(found)
      if (transaction != null) expectWhole(transaction)
      expect((await inspect({ bytes }, document)).fields).toEqual(found.fields)
    }
  })

  test('and each field has a price, whatever is selected of it', async () => {
    const [{ bytes } = { bytes: '0x' }] = loadVectors<PartVector>('transactions').toSorted(
      (one, other) => (other.bytes ?? '').length - (one.bytes ?? '').length,
    )
    const gateway = await startGateway()
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: `query ($bytes: Hex!) { inspect(input: { bytes: $bytes }) {
          ... on BlockInspection { fields { __typename } }
          ... on TransactionInspection { fields { __typename } } } }`,
        variables: { bytes },
        extensions: { cost: true },
      }),
    })
    const { data, extensions } = (await response.json()) as GraphqlAnswer & {
      readonly extensions: { readonly cost: { readonly spent: number } }
    }
    await gateway.close()
    const { length } = data.inspect.fields
    expect(length).toBeGreaterThan(60)
    // Writing a field costs 0.4 units, including its part of the minimum cost of the operation.
    expect(extensions.cost.spent).toBeGreaterThan(length * (0.2 + placedFieldCost))
  })

  test('a multi address that is known by its reference alone has no fields', async () => {
    const multi = present(
      loadVectors<PartVector>('addresses').find(
        ({ json, bech32 }) => bech32 !== undefined && 'addresses' in json,
      ),
      'a multi address',
    )
    const found = await inspect({ bech32: multi.bech32.rms }, document)
    expect(found.fields).toEqual([])
  })
})

describe('an unreadable value is refused with the broken rule of the most similar type:', () => {
  const [output] = loadVectors<PartVector>('outputs')
  const [block] = loadVectors<PartVector>('transactions')
  const rows: [string, object, object][] = [
    ['no bytes', { bytes: '0x' }, { code: 'BIN_EOF', message: /^header\.protocolVersion / }],
    [
      'a truncated output',
      { bytes: output?.bytes.slice(0, 60) },
      { code: 'BIN_EOF', message: /unlockConditions/ },
    ],
    [
      'a truncated block',
      { bytes: block?.bytes.slice(0, 300) },
      { code: 'BIN_EOF', path: expect.stringMatching(/^body/) },
    ],
    ['an empty object', { json: {} }, { code: 'JSON_MISSING', path: /^header/ }],
    ['an address of an unknown kind', { json: { type: 7 } }, { code: 'TYPE_ADDRESS' }],
    ['an empty text', { bech32: '' }, { code: /^BECH32_/ }],
    ['a truncated text', { bech32: 'rms1qr9y8rk' }, { code: /^BECH32_/ }],
    ['too many bytes', { bytes: `0x${'00'.repeat(32_769)}` }, { code: 'BLOCK_SIZE' }],
  ]
  test.each(rows)('%s', async (_name, input, expected) => {
    const found = await inspect(input)
    for (const [name, value] of Object.entries(expected)) {
      if (value instanceof RegExp) expect(found[name]).toMatch(value)
      else expect(found).toMatchObject({ [name]: value })
    }
    expect(found.__typename).toBe('BrokenRule')
  })
})

describe('an inspection predicts', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const predictionQuery = `query ($input: InspectInput!) { inspect(input: $input) {
    ... on BlockInspection { refusal { code message } transaction { verdict { ...Verdict } } }
    ... on TransactionInspection { verdict { ...Verdict } }
  } network { isDevelopment faucet { amount smallAmount limit } } }
  fragment Verdict on VerifiedTransaction { outcome failure { code } passedRules }`

  const predict = async (input: object) => {
    const { data, errors } = await askBothWays(gateway.url, predictionQuery, { input })
    expect(errors).toBeUndefined()
    return data.inspect
  }

  const payment = async (from: number, amount: bigint) => {
    const offer = await offerOf(gateway.url)
    const [spend] = await genesisOutputs(gateway.url, user(from))
    const { payload } = paymentOf(offer.network, {
      spend: present(spend, 'an output'),
      key: user(from),
      outputs: [ownedBy(user(2), amount)],
      creationSlot: slotNow(offer.network),
    })
    return { offer, payload }
  }

  test('nothing for JSON that is nested too deeply for the stack', async () => {
    const query = 'query ($json: JSON!) { inspect(input: { json: $json }) { __typename } }'
    const json = `${'['.repeat(24_000)}${']'.repeat(24_000)}`
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"query":${JSON.stringify(query)},"variables":{"json":${json}}}`,
    })
    expect(await response.json()).toEqual({ data: { inspect: { __typename: 'BrokenRule' } } })
  })

  test('that a block is accepted', async () => {
    const { offer, payload } = await payment(1, 1_000_000_000n)
    const { bytes, blockId } = blockOf(offer, payload)
    const input = { bytes: bytesToHex(bytes) }
    const accepted = { outcome: 'ACCEPTED', failure: null }
    const { refusal, transaction } = await predict(input)
    expect(refusal).toBeNull()
    expect(transaction.verdict).toMatchObject(accepted)
    expect(await predict({ json: print(SignedTransaction, payload) })).toMatchObject({
      verdict: accepted,
    })
    const isStored = async () => {
      const { data } = await graphql(gateway.url, `{ block(id: "${blockId}") { blockId } }`)
      return data.block !== null
    }
    expect(await isStored()).toBe(false)
    await acceptedId(await post(gateway.url, bytes))
    expect(await isStored()).toBe(true)
    const again = await predict(input)
    expect(again).toMatchObject({ refusal: null, transaction: { verdict: { outcome: 'KNOWN' } } })
  })

  test('that a block is refused and its transaction fails', async () => {
    const { offer, payload } = await payment(2, 999_999_999n)
    const { slotCommitmentId } = offer.header
    const rows = [
      [{ key: user(3) }, 'ISSUER_KEY_UNKNOWN'],
      [{ body: { maxBurnedMana: 0n } }, 'BURNED_MANA_TOO_LITTLE'],
      [{ header: { issuingTime: offer.header.issuingTime + 10n ** 12n } }, 'BLOCK_MALFORMED'],
      [
        {
          header: {
            slotCommitmentId: `0x00${slotCommitmentId.slice(4)}` as typeof slotCommitmentId,
          },
        },
        'COMMITMENT_UNKNOWN',
      ],
    ] as const
    for (const [changes, code] of rows) {
      const bytes = bytesToHex(blockOf(offer, payload, changes).bytes)
      const { refusal, transaction } = await predict({ bytes })
      expect(refusal).toEqual({ code, message: expect.any(String) })
      expect(transaction.verdict).toMatchObject({ outcome: 'FAILED', failure: { code: 14 } })
      const { errors } = await graphql(
        gateway.url,
        'mutation ($input: SubmitBlockInput!) { submitBlock(input: $input) { blockId } }',
        { input: { bytes } },
      )
      expect(errors?.[0]).toMatchObject({ message: refusal.message, extensions: { code } })
    }
  })

  test('that a block comes too late for the newest committed slot', async () => {
    const world = await startWorld()
    const { offer, slot } = await world.moment()
    const issuingTime = BigInt(slotEnd(worldParameters, slot)) * 1_000_000_000n - 1n
    const { bytes } = blockOf(offer, taggedData('0x', '0x'), { header: { issuingTime } })
    expect(await world.pass(worldParameters.minCommittableAge)).toBe(slot)
    const input = { bytes: bytesToHex(bytes) }
    const { data } = await askBothWays(world.gateway.url, predictionQuery, { input })
    expect(data.inspect.refusal).toMatchObject({ code: 'SLOT_CLOSED' })
    await world.close()
  })

  test('the amounts of the faucet, on a development network', async () => {
    const { data } = await graphql(
      gateway.url,
      '{ network { isDevelopment faucet { amount smallAmount limit } } }',
    )
    expect(data.network).toEqual({
      isDevelopment: true,
      faucet: { amount: '1000000000', smallAmount: '100000000', limit: '5000000000' },
    })
  })
})
