import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { Block, type BlockHeader } from '../../../src/protocol/block.ts'
import { slotOfId } from '../../../src/protocol/ids.ts'
import type { Output } from '../../../src/protocol/outputs.ts'
import type {
  AccountId,
  BlockId,
  CommitmentId,
  OutputId,
  SlotIndex,
} from '../../../src/protocol/primitives.ts'
import { encode, print } from '../../../src/protocol/schema/schema.ts'
import { slotStart } from '../../../src/protocol/slots.ts'
import type { Transaction } from '../../../src/protocol/transaction.ts'
import { edited } from '../../support/edited.ts'
import { rest } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, binary, post, refusal, submit } from '../../support/submit.ts'
import {
  type BlockChanges,
  blockOf,
  issuer,
  type Offer,
  offerOf,
  ownedBy,
  paymentOf,
  type SignedBlock,
  slotNow,
  taggedData,
  untilCommitted,
  user,
} from '../../support/wallet.ts'

/** Each row is a block that is valid except for one fault; REST and GraphQL report the same. */

let gateway: TestGateway
let offer: Offer
let genesisCommitment: CommitmentId
let parent: SignedBlock

beforeAll(async () => {
  gateway = await startGateway()
  const offered = await offerOf(gateway.url)
  // With one parent, each member has a fixed offset.
  offer = { ...offered, strongParents: offered.strongParents.slice(0, 1) }
  genesisCommitment = await commitmentOf(0)
  parent = tagged()
  await acceptedId(await post(gateway.url, parent.bytes))
  // Until a slot with blocks is committed, the genesis is a valid parent at any age.
  await untilCommitted(gateway.url, slotOfId(parent.blockId))
  // The genesis may have been the only parent of the first offer.
  offer = { ...offer, strongParents: [parent.blockId] }
})
afterAll(() => gateway.close())

async function commitmentOf(index: number): Promise<CommitmentId> {
  const query = `{ milestone(index: ${index}) { commitmentId } }`
  const response = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent(query)}`)
  return (await response.json()).data.milestone.commitmentId
}

const unknownOutput = `0x${'00'.repeat(38)}` as OutputId
const genesisBlock = `0x${'00'.repeat(36)}` as BlockId
const unknownBlock = `0x${'ab'.repeat(36)}` as BlockId
const second = 1_000_000_000n

function tagged(changes: BlockChanges = {}): SignedBlock {
  return blockOf(offer, taggedData('0x746167', '0x64617461'), changes)
}

function withHeader(header: Partial<BlockHeader>): SignedBlock {
  return tagged({ header })
}

/** Creates a block with a transaction that is well formed except for the given changes. */
function paying(changes: Partial<Transaction> = {}): SignedBlock {
  const creationSlot = slotNow(offer.network)
  const outputs = [ownedBy(user(1), 1_000_000n)]
  const { payload } = paymentOf(offer.network, {
    spend: unknownOutput,
    key: user(1),
    outputs,
    creationSlot,
  })
  return blockOf(offer, { ...payload, transaction: { ...payload.transaction, ...changes } })
}

describe('malformed bytes of a block', () => {
  type Row = readonly [
    string,
    () => Uint8Array,
    rule: string,
    path: string,
    offset: number | undefined,
  ]
  const rows: readonly Row[] = [
    ['truncated', () => tagged().bytes.subarray(0, -1), 'BIN_EOF', 'signature.signature', 187],
    ['one byte', () => Uint8Array.of(3), 'BIN_EOF', 'header.networkId', 1],
    ['no bytes', () => new Uint8Array(0), 'BIN_EOF', 'header.protocolVersion', 0],
    ['trailing bytes', () => Uint8Array.of(...tagged().bytes, 0), 'BIN_TRAILING', '', 251],
    ['over 32768 bytes', () => new Uint8Array(32_769).fill(3), 'BLOCK_SIZE', '', undefined],
    [
      'another network',
      () => withHeader({ networkId: offer.network.id + 1n }).bytes,
      'HEADER_NETWORK_ID',
      'header.networkId',
      1,
    ],
    [
      'a transaction of another network',
      () => paying({ networkId: 1n }).bytes,
      'TX_NETWORK_ID',
      'body.payload.transaction.networkId',
      134,
    ],
    [
      'a version without parameters',
      () => withHeader({ protocolVersion: 4 }).bytes,
      'HEADER_VERSION',
      'header.protocolVersion',
      0,
    ],
    [
      'a commitment that is too old for the block',
      () => withHeader({ slotCommitmentId: genesisCommitment }).bytes,
      'HEADER_COMMITMENT_TOO_OLD',
      'header.slotCommitmentId',
      17,
    ],
    [
      'an output without its storage deposit',
      () => paying({ outputs: [ownedBy(user(1), 1n)] }).bytes,
      'TX_STORAGE_DEPOSIT',
      'body.payload.transaction.outputs.0.amount',
      200,
    ],
  ]
  test.each(rows)('%s', async (_name, make, rule, path, offset) => {
    const bytes = make()
    const [status, message] = await refusal(await post(gateway.url, bytes))
    expect([status, message]).toEqual([400, expect.stringMatching(sentenceAbout(path, offset))])
    expect(await submit(gateway.url, { bytes: bytesToHex(bytes) })).toEqual({
      code: 'BLOCK_MALFORMED',
      message,
      rule,
      path: path === '' ? 'input.bytes' : `input.bytes.${path}`,
      ...(offset !== undefined && { offset }),
    })
  })

  /** Matches the name of the member, or of the block itself, and its offset. */
  function sentenceAbout(path: string, offset: number | undefined): RegExp {
    const at = offset === undefined ? '' : ` \\(byte ${offset}\\)`
    return new RegExp(`^${path === '' ? 'block' : path} [^.(]+${at}$`)
  }
})

describe('malformed JSON of a block', () => {
  const changed = (path: string, value: unknown) => () =>
    edited(jsonOf(tagged()), path, () => value)
  type Row = readonly [string, () => unknown, rule: string, path: string]
  const rows: readonly Row[] = [
    ['not an object', () => 'block', 'JSON_TYPE', ''],
    ['an empty object', () => ({}), 'JSON_MISSING', 'header'],
    [
      'a member is missing',
      changed('header.issuerId', undefined),
      'JSON_MISSING',
      'header.issuerId',
    ],
    [
      'a number instead of a string',
      changed('header.issuingTime', 1),
      'JSON_U64',
      'header.issuingTime',
    ],
    [
      'a string instead of a number',
      changed('header.protocolVersion', '3'),
      'JSON_NUMBER',
      'header.protocolVersion',
    ],
    ['hex without 0x', changed('body.payload.tag', '74'), 'JSON_HEX', 'body.payload.tag'],
    [
      'an id of the wrong length',
      changed('header.issuerId', '0x12'),
      'JSON_HEX_LENGTH',
      'header.issuerId',
    ],
    [
      'a tag that is too long',
      changed('body.payload.tag', `0x${'74'.repeat(65)}`),
      'TAGGED_TAG_LENGTH',
      'body.payload.tag',
    ],
    ['an unknown kind of payload', changed('body.payload.type', 9), 'TYPE_PAYLOAD', 'body.payload'],
    ['an unknown kind of signature', changed('signature.type', 1), 'TYPE_SIGNATURE', 'signature'],
    ['no parents', changed('body.strongParents', []), 'PARENTS_STRONG_COUNT', 'body.strongParents'],
    ['another network', changed('header.networkId', '1'), 'HEADER_NETWORK_ID', 'header.networkId'],
    [
      'a version without parameters',
      changed('header.protocolVersion', 4),
      'HEADER_VERSION',
      'header.protocolVersion',
    ],
    ['over 32768 bytes', () => jsonOf(paying({ outputs: large() })), 'BLOCK_SIZE', ''],
  ]
  test.each(rows)('%s', async (_name, make, rule, path) => {
    const json = make()
    const [status, message] = await refusal(await post(gateway.url, JSON.stringify(json)))
    const subject = path === '' ? 'block' : path
    expect([status, message]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^${subject} [^.]+$`)),
    ])
    expect(await submit(gateway.url, { json })).toEqual({
      code: 'BLOCK_MALFORMED',
      message,
      rule,
      path: path === '' ? 'input.json' : `input.json.${path}`,
    })
  })

  /** Creates the maximum number of outputs, of about 300 bytes each. */
  function large(): Output[] {
    const entries = [{ key: 'text', value: `0x${'ab'.repeat(250)}` }] as const
    const output = ownedBy(user(1), 1_000_000n)
    return Array.from({ length: 128 }, () => ({ ...output, features: [{ type: 2, entries }] }))
  }
})

describe('the ledger rejects a block with', () => {
  const stranger = `0x${'11'.repeat(32)}` as AccountId
  const unknown = (id: CommitmentId) => `0x${'22'.repeat(32)}${id.slice(-8)}` as CommitmentId
  const inSlot = (slot: SlotIndex) => BigInt(slotStart(offer.network.parameters, slot)) * second
  let inTenSeconds = 0n
  /** Reads the clock when the block is made, because a busy machine may come to it ten seconds later. */
  function tenSecondsOn(): bigint {
    inTenSeconds = BigInt(Date.now()) * 1_000_000n + 10n * second
    return inTenSeconds
  }

  type Row = readonly [string, () => SignedBlock, member: string, fields: () => object]
  const rows: readonly Row[] = [
    [
      'a wrong signature',
      () => resigned(withHeader({ latestFinalizedSlot: 0 }).block),
      'signature',
      () => ({ code: 'BLOCK_SIGNATURE_INVALID', publicKey: issuer.key.publicKey }),
    ],
    [
      'a key of another account',
      () => tagged({ key: user(1) }),
      'signature.publicKey',
      () => ({
        code: 'ISSUER_KEY_UNKNOWN',
        issuerId: issuer.accountId,
        publicKey: user(1).publicKey,
      }),
    ],
    [
      'an unknown issuer',
      () => withHeader({ issuerId: stranger }),
      'header.issuerId',
      () => ({ code: 'ISSUER_UNKNOWN', issuerId: stranger }),
    ],
    [
      'an unknown commitment',
      () => withHeader({ slotCommitmentId: unknown(offer.header.slotCommitmentId) }),
      'header.slotCommitmentId',
      () => ({
        code: 'COMMITMENT_UNKNOWN',
        commitmentId: unknown(offer.header.slotCommitmentId),
      }),
    ],
    [
      'an issuing time in the future',
      () => withHeader({ issuingTime: tenSecondsOn() }),
      'header.issuingTime',
      () => ({
        code: 'BLOCK_ISSUED_IN_FUTURE',
        issuingTime: inTenSeconds.toString(),
        now: expect.stringMatching(/^\d{19}$/),
      }),
    ],
    [
      'a validation by an issuer outside the committee',
      validation,
      'header.issuerId',
      () => ({ code: 'VALIDATOR_NOT_IN_COMMITTEE', issuerId: issuer.accountId }),
    ],
    [
      'an unknown parent',
      () => tagged({ body: { strongParents: [unknownBlock] } }),
      'body',
      () => ({ code: 'PARENT_UNKNOWN', blockId: unknownBlock }),
    ],
    [
      'a parent that is too old',
      () => tagged({ body: { strongParents: [genesisBlock] } }),
      'body',
      () => ({ code: 'PARENT_TOO_OLD', blockId: genesisBlock, oldestSlot: expect.any(Number) }),
    ],
    [
      'a parent that is not older',
      () => {
        const { issuingTime } = parent.block.header
        return tagged({ header: { issuingTime }, body: { strongParents: [parent.blockId] } })
      },
      'header.issuingTime',
      () => ({
        code: 'PARENT_NOT_OLDER',
        blockId: parent.blockId,
        issuingTime: parent.block.header.issuingTime.toString(),
      }),
    ],
    [
      'less mana than it costs',
      () => tagged({ body: { maxBurnedMana: 1n } }),
      'body.maxBurnedMana',
      () => ({
        code: 'BURNED_MANA_TOO_LITTLE',
        maxBurnedMana: '1',
        cost: expect.stringMatching(/^\d{6}$/),
      }),
    ],
    [
      'an issuing time in a committed slot',
      () =>
        tagged({
          header: { issuingTime: inSlot(20), slotCommitmentId: genesisCommitment },
          body: { strongParents: [genesisBlock] },
        }),
      'header.issuingTime',
      () => ({ code: 'SLOT_CLOSED', slot: 20 }),
    ],
  ]
  test.each(rows)('%s', async (_name, make, member, fields) => {
    const { bytes } = make()
    const [status, message] = await refusal(await post(gateway.url, bytes))
    expect([status, message]).toEqual([400, expect.stringMatching(new RegExp(`^${member}: `))])
    expect(await submit(gateway.url, { bytes: bytesToHex(bytes) })).toEqual({
      message: expect.stringMatching(new RegExp(`^${member}: `)),
      ...fields(),
    })
  })

  function validation(): SignedBlock {
    const { block, blockId } = tagged()
    const body = {
      type: 1,
      strongParents: offer.strongParents,
      weakParents: [],
      shallowLikeParents: [],
      highestSupportedVersion: 3,
      protocolParametersHash: offer.network.parametersHash,
    } as const
    const changed = { ...block, body }
    return { block: changed, blockId, bytes: encode(Block, changed) }
  }

  /** Creates a block with the signature of another block. */
  function resigned({ signature }: Block): SignedBlock {
    const { block, blockId } = tagged()
    return { block, blockId, bytes: encode(Block, { ...block, signature }) }
  }
})

describe('REST refuses a body', () => {
  const json = 'application/json'
  const long = new Uint8Array(1_048_577)
  const rows: readonly (readonly [string, BodyInit, type: string | undefined, expected: string])[] =
    [
      ['over 1 MiB', long, json, 'body: longer than 1048576 bytes'],
      ['over 1 MiB of bytes', long, binary, 'body: longer than 1048576 bytes'],
      ['over 1 MiB without a length', streamOf(long), json, 'body: longer than 1048576 bytes'],
      ['of no type', Uint8Array.of(3), undefined, 'Content-Type: expected'],
      ['of another type', '{}', 'text/plain', 'Content-Type: expected'],
      ['of a similar type', '{}', 'text/json', 'Content-Type: expected'],
      ['of another version', '{}', 'application/vnd.iota.serializer-v1', 'Content-Type: expected'],
      ['that is no JSON', '{"header":', json, 'body: not JSON'],
      ['that is no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), json, 'body: not JSON'],
      ['that is empty', '', json, 'body: not JSON'],
      ['that is empty, of bytes', '', binary, 'header.protocolVersion ends'],
      ['with truncated bytes in hexadecimal', '0x03', binary, 'header.networkId ends'],
      ['with an odd number of hexadecimal digits', '0x0', binary, 'header'],
      ['that is a payload of an unknown kind', '{"type":3}', json, 'payload has an unknown type'],
    ]
  test.each(rows)('%s', async (_name, body, type, expected) => {
    const headers = type === undefined ? {} : { 'content-type': type }
    // A body without a length requires half duplex, which the declared type of a request lacks.
    const request = { method: 'POST', headers, body, duplex: 'half' }
    const response = await rest(`${gateway.url}/api/core/v3/blocks`, request)
    const [status, message] = await refusal(response)
    expect([status, message]).toEqual([400, expect.stringContaining(expected)])
  })

  function streamOf(bytes: Uint8Array): ReadableStream {
    return new Blob([Uint8Array.from(bytes)]).stream()
  }
})

function jsonOf({ block }: SignedBlock): unknown {
  return print(Block, block)
}
