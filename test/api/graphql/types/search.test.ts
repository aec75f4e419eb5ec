import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../../src/lib/assert.ts'
import { bytesToHex, hexToBytes } from '../../../../src/lib/hex.ts'
import { encodeBech32 } from '../../../../src/protocol/bech32.ts'
import { publicKeyHash, transactionOf } from '../../../../src/protocol/ids.ts'
import type { OutputId } from '../../../../src/protocol/primitives.ts'
import { maxHits } from '../../../../src/service/search/look-up.ts'
import { askBothWays } from '../../../support/both-ways.ts'
import { graphql } from '../../../support/client.ts'
import { startGateway, type TestGateway } from '../../../support/start-gateway.ts'
import { acceptedId, post } from '../../../support/submit.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  issuer,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  untilCommitted,
  user,
} from '../../../support/wallet.ts'

const document = `query ($text: String!) { search(text: $text) { reason message hits { match thing {
  __typename
  ... on Block { blockId }
  ... on Transaction { transactionId }
  ... on Milestone { index }
  ... on Output { outputId }
  ... on Account { accountId }
  ... on Address { bech32 }
  ... on ChainRecord { chainId }
} } } }`

let gateway: TestGateway
let genesis: OutputId
let transfer: ReturnType<typeof paymentOf>
let blockId: string
let milestone: { index: number; commitmentId: string; timestamp: number }

beforeAll(async () => {
  gateway = await startGateway()
  const offer = await offerOf(gateway.url)
  const [first] = await genesisOutputs(gateway.url, user(1))
  if (first === undefined) throw new Error('user 1 has no output')
  genesis = first
  const output = {
    ...ownedBy(user(1), 1_000_000_000n),
    features: [{ type: 4, tag: bytesToHex(Buffer.from('rent 2026')) }] as const,
  }
  const slot = slotNow(offer.network)
  const payment = { spend: genesis, key: user(1), outputs: [output], creationSlot: slot }
  transfer = paymentOf(offer.network, payment)
  blockId = await acceptedId(await post(gateway.url, blockOf(offer, transfer.payload).bytes))
  await untilCommitted(gateway.url, slot + 1)
  const { data } = await graphql(
    gateway.url,
    `{ milestone(index: ${slot}) { index commitmentId timestamp } }`,
  )
  milestone = data.milestone
})
afterAll(() => gateway.close())

/** Returns what a search finds, in short form. */
async function found(text: string): Promise<unknown> {
  const { data } = await askBothWays(gateway.url, document, { text })
  const { hits, reason, message } = data.search
  expect(reason === null).toBe(hits.length > 0)
  expect(message === null).toBe(hits.length > 0)
  return (
    reason ??
    hits.map((hit: { match: string; thing: object }) => [hit.match, ...Object.values(hit.thing)])
  )
}

describe('a search finds', () => {
  test('blocks, transactions, milestones and outputs by their whole ids, with and without 0x', async () => {
    const [spent] = transfer.created
    const rows = [
      [blockId, [['BLOCK_ID', 'Block', blockId]]],
      [transfer.transactionId, [['TRANSACTION_ID', 'Transaction', transfer.transactionId]]],
      [milestone.commitmentId, [['COMMITMENT_ID', 'Milestone', milestone.index]]],
      [spent ?? '', [['OUTPUT_ID', 'Output', spent]]],
      [transactionOf(genesis), [['TRANSACTION_ID', 'Transaction', transactionOf(genesis)]]],
    ] as const
    for (const [id, expected] of rows) {
      expect(await found(id)).toEqual(expected)
      expect(await found(` ${id.slice(2).toUpperCase()} `)).toEqual(expected)
    }
  })

  test('the same by eight or more of their digits, and the transaction rather than its outputs', async () => {
    for (const digits of [8, 9, 20, 64]) {
      const begin = (id: string) => id.slice(0, 2 + digits)
      expect(await found(begin(blockId))).toEqual([['ID_BEGINNING', 'Block', blockId]])
      expect(await found(begin(transfer.transactionId))).toEqual([
        ['ID_BEGINNING', 'Transaction', transfer.transactionId],
      ])
      expect(await found(begin(milestone.commitmentId))).toEqual([
        ['ID_BEGINNING', 'Milestone', milestone.index],
      ])
    }
    // Each output of the genesis begins with the id of a transaction that is in no block.
    const outputs = (await found(genesis.slice(0, 10))) as string[][]
    expect(outputs.length).toBeGreaterThan(5)
    expect(outputs).toContainEqual(['ID_BEGINNING', 'Output', genesis])
    expect(await found(blockId.slice(0, 9))).toBe('TOO_SHORT')
  })

  test('a transaction with its fields, by its id and by some of its digits', async () => {
    const selection = `query ($text: String!) { search(text: $text) { hits { thing {
      ... on Transaction { state inputs { outputId } outputs { outputId } }
    } } } }`
    for (const text of [transfer.transactionId, transfer.transactionId.slice(0, 20)]) {
      const { data } = await askBothWays(gateway.url, selection, { text })
      expect(data.search.hits).toEqual([
        {
          thing: {
            state: 'FINALIZED',
            inputs: [{ outputId: genesis }],
            outputs: transfer.created.map((outputId) => ({ outputId })),
          },
        },
      ])
    }
  })

  test('addresses by text, bytes, hash and public key; accounts by address and id', async () => {
    const { publicKeyHash: hash, publicKey } = user(1)
    const bech32 = addressOf(user(1))
    expect(await found(bech32)).toEqual([['BECH32', 'Address', bech32]])
    expect(await found(bech32.toUpperCase())).toEqual([['BECH32', 'Address', bech32]])
    expect(await found(`0x00${hash.slice(2)}`)).toEqual([['ADDRESS_BYTES', 'Address', bech32]])
    expect(await found(hash)).toEqual([['PUBLIC_KEY_HASH', 'Address', bech32]])
    expect(publicKeyHash(publicKey)).toBe(hash)
    expect(await found(publicKey)).toEqual([['PUBLIC_KEY', 'Address', bech32]])
    const { accountId } = issuer
    const account = encodeBech32('tst', Uint8Array.of(8, ...hexToBytes(accountId)))
    expect(await found(account)).toEqual([
      ['BECH32', 'Account', accountId],
      ['BECH32', 'Address', account],
    ])
    // The id of the account is the hash of its first key, and the address of that key is used too.
    expect(await found(accountId)).toEqual([
      ['CHAIN_ID', 'Account', accountId],
      ['PUBLIC_KEY_HASH', 'Address', addressOf(user(0))],
    ])
  })

  test('chain records by the address of their chain, on any network', async () => {
    const chainId = encodeBech32('other', Uint8Array.of(24, ...new Uint8Array(32).fill(5)))
    expect(await found(chainId)).toBe('OTHER_NETWORK')
    const authorization = `Bearer ${await gateway.token('chain-record:write')}`
    const set = `mutation { setChainRecord(chainId: "${chainId}",
      record: { accessNodes: [], isActive: true }) { version } }`
    expect((await graphql(gateway.url, set, {}, { authorization })).errors).toBeUndefined()
    expect(await found(chainId)).toEqual([['CHAIN_RECORD', 'ChainRecord', chainId]])
  })

  test('milestones by index and by time, in seconds to nanoseconds and as a date', async () => {
    const { index, timestamp } = milestone
    const seconds = timestamp - 1
    expect(await found(`${index}`)).toEqual([['MILESTONE_INDEX', 'Milestone', index]])
    const date = new Date(seconds * 1_000).toISOString()
    const forms = [`${seconds}`, `${seconds}000`, `${seconds}000000000`, date, date.slice(0, -5)]
    for (const text of forms) {
      expect([text, await found(text)]).toEqual([text, [['TIME', 'Milestone', index]]])
    }
  })

  test('unspent outputs by their tag, as text and as digits', async () => {
    const expected = [['TAG', 'Output', transfer.created[0]]]
    expect(await found('rent 2026')).toEqual(expected)
    expect(await found(bytesToHex(Buffer.from('rent 2026')))).toEqual(expected)
  })

  test('at most twenty things of all kinds together', async () => {
    const digits = genesis.slice(2, 12)
    const count = maxHits + 5
    const [spend] = await genesisOutputs(gateway.url, user(2))
    const output = {
      ...ownedBy(user(2), 1_000_000_000n / BigInt(count)),
      features: [{ type: 4, tag: bytesToHex(Buffer.from(digits)) }] as const,
    }
    const offer = await offerOf(gateway.url)
    const creationSlot = slotNow(offer.network)
    const outputs = Array.from({ length: count }, () => output)
    const payment = { spend: present(spend, 'funds'), key: user(2), outputs, creationSlot }
    const { payload } = paymentOf(offer.network, payment)
    await acceptedId(await post(gateway.url, blockOf(offer, payload).bytes))
    await untilCommitted(gateway.url, creationSlot + 1)
    const hits = (await found(digits)) as string[][]
    expect(hits).toHaveLength(maxHits)
    expect(new Set(hits.map(([match]) => match))).toEqual(new Set(['ID_BEGINNING', 'TAG']))
  })

  test('nothing, with a reason', async () => {
    const unused = `0x${'12'.repeat(36)}`
    const rows = [
      [unused, 'UNKNOWN'],
      [`0x${'12'.repeat(32)}`, 'UNKNOWN'],
      ['nobody has this tag', 'UNKNOWN'],
      [addressOf(user(1)).replace(/.$/, 'b'), 'MALFORMED'],
      [encodeBech32('iota', new Uint8Array(33)), 'OTHER_NETWORK'],
      ['4294967294', 'NOT_COMMITTED'],
      ['2100-01-01', 'NOT_COMMITTED'],
      ['2001-01-01', 'BEFORE_GENESIS'],
      ['0xabc', 'TOO_SHORT'],
      ['', 'MALFORMED'],
    ] as const
    for (const [text, reason] of rows) expect([text, await found(text)]).toEqual([text, reason])
  })

  test('nothing, and says in words what is wrong with an address', async () => {
    const text = addressOf(user(1)).replace(/.$/, 'b')
    const { data } = await graphql(gateway.url, `{ search(text: "${text}") { message } }`)
    expect(data.search.message).toBe(
      'the text is not a valid Bech32 address: bech32 character unknown',
    )
  })
})
