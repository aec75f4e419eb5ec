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

/** Every row is a block that is right but for one thing; REST and GraphQL say the same of it. */

let gateway: TestGateway
let offer: Offer
let genesisCommitment: CommitmentId
/** A block that is known. */
let parent: SignedBlock

beforeAll(async () => {
  gateway = await startGateway()
  const offered = await offerOf(gateway.url)
  // One parent, so that every member has its place.
  offer = { ...offered, strongParents: offered.strongParents.slice(0, 1) }
  genesisCommitment = await commitmentOf(0)
  parent = tagged()
  await acceptedId(await post(gateway.url, parent.bytes))
  // Until a slot with blocks is committed, the genesis is a parent at any age.
  await untilCommitted(gateway.url, slotOfId(parent.blockId))
  // The first offer may have had no other parent than the genesis.
  offer = { ...offer, strongParents: [parent.blockId] }
})
afterAll(() => gateway.close())

async function commitmentOf(index: number): Promise<CommitmentId> {
  const query = `{ milestone(index: ${index}) { commitmentId } }`
  const response = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent(query)}`)
  return (await response.json()).data.milestone.commitmentId
}

const nothing = `0x${'00'.repeat(38)}` as OutputId
const genesisBlock = `0x${'00'.repeat(36)}` as BlockId
const nowhere = `0x${'ab'.repeat(36)}` as BlockId
const second = 1_000_000_000n

function tagged(changes: BlockChanges = {}): SignedBlock {
  return blockOf(offer, taggedData('0x746167', '0x64617461'), changes)
}

function withHeader(header: Partial<BlockHeader>): SignedBlock {
  return tagged({ header })
}

/** A block with a transaction, well formed but for what is changed in it. */
function paying(changes: Partial<Transaction> = {}): SignedBlock {
  const creationSlot = slotNow(offer.network)
  const outputs = [ownedBy(user(1), 1_000_000n)]
  const { payload } = paymentOf(offer.network, {
    spend: nothing,
    key: user(1),
    outputs,
    creationSlot,
  })
  return blockOf(offer, { ...payload, transaction: { ...payload.transaction, ...changes } })
}

describe('bytes that break a rule of form', () => {
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
    ['nothing', () => new Uint8Array(0), 'BIN_EOF', 'header.protocolVersion', 0],
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

  /** Names the member, or the block itself, and where it begins. */
  function sentenceAbout(path: string, offset: number | undefined): RegExp {
    const at = offset === undefined ? '' : ` \\(byte ${offset}\\)`
    return new RegExp(`^${path === '' ? 'block' : path} [^.(]+${at}$`)
  }
})

describe('JSON that breaks a rule of form', () => {
  const changed = (path: string, value: unknown) => () =>
    edited(jsonOf(tagged()), path, () => value)
  type Row = readonly [string, () => unknown, rule: string, path: string]
  const rows: readonly Row[] = [
    ['no object', () => 'block', 'JSON_TYPE', ''],
    ['an empty object', () => ({}), 'JSON_MISSING', 'header'],
    [
      'a member is missing',
      changed('header.issuerId', undefined),
      'JSON_MISSING',
      'header.issuerId',
    ],
    ['a number for a text', changed('header.issuingTime', 1), 'JSON_U64', 'header.issuingTime'],
    [
      'a text for a number',
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

  /** Outputs of some 300 bytes each, as many as there may be. */
  function large(): Output[] {
    const entries = [{ key: 'text', value: `0x${'ab'.repeat(250)}` }] as const
    const output = ownedBy(user(1), 1_000_000n)
    return Array.from({ length: 128 }, () => ({ ...output, features: [{ type: 2, entries }] }))
  }
})

describe('a block that this ledger does not take', () => {
  const stranger = `0x${'11'.repeat(32)}` as AccountId
  const unknown = (id: CommitmentId) => `0x${'22'.repeat(32)}${id.slice(-8)}` as CommitmentId
  const inSlot = (slot: SlotIndex) => BigInt(slotStart(offer.network.parameters, slot)) * second
  let inTenSeconds = 0n
  /** Taken when the block is made: a busy machine may be ten seconds later with it. */
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
      'a key that is not of the issuer',
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
      'a time to come',
      () => withHeader({ issuingTime: tenSecondsOn() }),
      'header.issuingTime',
      () => ({
        code: 'BLOCK_ISSUED_IN_FUTURE',
        issuingTime: inTenSeconds.toString(),
        now: expect.stringMatching(/^\d{19}$/),
      }),
    ],
    [
      'a vote of no validator',
      validation,
      'header.issuerId',
      () => ({ code: 'VALIDATOR_NOT_IN_COMMITTEE', issuerId: issuer.accountId }),
    ],
    [
      'an unknown parent',
      () => tagged({ body: { strongParents: [nowhere] } }),
      'body',
      () => ({ code: 'PARENT_UNKNOWN', blockId: nowhere }),
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
      'a slot that is committed',
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

  /** With the signature of another block. */
  function resigned({ signature }: Block): SignedBlock {
    const { block, blockId } = tagged()
    return { block, blockId, bytes: encode(Block, { ...block, signature }) }
  }
})

describe('a body that REST cannot read', () => {
  const json = 'application/json'
  const long = new Uint8Array(1_048_577)
  const rows: readonly (readonly [string, BodyInit, type: string | undefined, says: string])[] = [
    ['over 1 MiB', long, json, 'body: longer than 1048576 bytes'],
    ['over 1 MiB of bytes', long, binary, 'body: longer than 1048576 bytes'],
    ['over 1 MiB without saying so', streamOf(long), json, 'body: longer than 1048576 bytes'],
    ['of no type', Uint8Array.of(3), undefined, 'Content-Type: expected'],
    ['of another type', '{}', 'text/plain', 'Content-Type: expected'],
    ['of a type like it', '{}', 'text/json', 'Content-Type: expected'],
    ['of another version', '{}', 'application/vnd.iota.serializer-v1', 'Content-Type: expected'],
    ['that is no JSON', '{"header":', json, 'body: not JSON'],
    ['that is no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), json, 'body: not JSON'],
    ['that is empty', '', json, 'body: not JSON'],
    ['that is empty, of bytes', '', binary, 'header.protocolVersion ends'],
    ['that spells bytes which end too soon', '0x03', binary, 'header.networkId ends'],
    ['that is a text of no bytes', '0x0', binary, 'header'],
  ]
  test.each(rows)('%s', async (_name, body, type, says) => {
    const headers = type === undefined ? {} : { 'content-type': type }
    // A body without a length must be half duplex, which the declared type of a request does not know.
    const request = { method: 'POST', headers, body, duplex: 'half' }
    const response = await rest(`${gateway.url}/api/core/v3/blocks`, request)
    const [status, message] = await refusal(response)
    expect([status, message]).toEqual([400, expect.stringContaining(says)])
  })

  function streamOf(bytes: Uint8Array): ReadableStream {
    return new Blob([Uint8Array.from(bytes)]).stream()
  }
})

function jsonOf({ block }: SignedBlock): unknown {
  return print(Block, block)
}
