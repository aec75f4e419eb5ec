import { present } from '../../src/lib/assert.ts'
import { type Hex, hexToBytes } from '../../src/lib/hex.ts'
import { accountIdOfKey, developmentKeys } from '../../src/node/embedded/development.ts'
import { encodeBech32 } from '../../src/protocol/bech32.ts'
import { type BasicBlockBody, Block, type BlockHeader } from '../../src/protocol/block.ts'
import { SlotCommitment } from '../../src/protocol/commitment.ts'
import {
  commitmentId,
  identifyBlock,
  identifyTransaction,
  indexOf,
  outputId,
  slotOfId,
  transactionOf,
} from '../../src/protocol/ids.ts'
import type { Keypair } from '../../src/protocol/keys.ts'
import { type Network, networkOf } from '../../src/protocol/network.ts'
import type { BasicOutput } from '../../src/protocol/outputs.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import type {
  BlockId,
  CommitmentId,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { nodeWorkScore } from '../../src/protocol/score.ts'
import { slotOfTime } from '../../src/protocol/slots.ts'
import type { Payload, SignedTransaction, Transaction } from '../../src/protocol/transaction.ts'
import { parsed } from './parsed.ts'
import { rest, restJson } from './rest.ts'
import { until } from './until.ts'

/** Creates blocks, transactions and addresses with the keys of the development network. */

const keys = developmentKeys()

/** The keys of the funded addresses; key 0 is also the key of an issuer account. */
export const users: readonly Keypair[] = keys.users

/** The key and the account that issue blocks. */
export const issuer = { key: user(0), accountId: accountIdOfKey(user(0)) }

/** The key of a funded address. */
export function user(index: number): Keypair {
  return present(keys.users[index], 'user')
}

/** The Bech32 text of a key's address. */
export function addressOf(key: Keypair): string {
  return encodeBech32('tst', Uint8Array.of(0, ...hexToBytes(key.publicKeyHash)))
}

/** The input for a block from a gateway: the network, and the parents and the commitment that the block refers to. */
export interface Offer {
  readonly network: Network
  readonly header: BlockHeader
  readonly strongParents: readonly BlockId[]
}

/** A gateway that starts while others run may need most of a minute. */
const startDeadlineMs = 60_000

/** Waits until the health endpoint of a gateway responds with a status. */
export async function untilHealth(url: string, status = 200): Promise<void> {
  const what = `${url}/health answers ${status}`
  await until(async () => (await rest(`${url}/health`)).status === status, {
    what,
    deadlineMs: startDeadlineMs,
  })
}

/** Waits until a gateway has committed a slot. */
export async function untilCommitted(
  url: string,
  slot: SlotIndex,
  deadlineMs = startDeadlineMs,
): Promise<void> {
  const newest = async () => (await restJson(`${url}/api/core/v3/info`)).status.latestFinalizedSlot
  const what = `${url} has committed slot ${slot}`
  await until(async () => (await newest()) >= slot, { what, deadlineMs })
}

/** Waits until a gateway accepts blocks, and requests the input for a block by REST, as a client does. */
export async function offerOf(url: string): Promise<Offer> {
  await untilHealth(url)
  const [info, issuance] = await Promise.all([
    restJson(`${url}/api/core/v3/info`),
    restJson(`${url}/api/core/v3/blocks/issuance`),
  ])
  const network = networkOf(parsed(ProtocolParameters, info.protocolParameters[0].parameters))
  const { strongParents, latestFinalizedSlot } = issuance
  const header = {
    protocolVersion: network.parameters.version,
    networkId: network.id,
    issuingTime: BigInt(issuance.latestParentBlockIssuingTime) + 1n,
    slotCommitmentId: commitmentId(parsed(SlotCommitment, issuance.latestCommitment)),
    latestFinalizedSlot,
    issuerId: issuer.accountId,
  }
  return { network, header, strongParents }
}

/** Whether new blocks may use an offer: at least half of the slots remain in which blocks may refer to its commitment. */
export function isFresh({ network, header }: Offer): boolean {
  const age = slotNow(network) - slotOfId(header.slotCommitmentId)
  return age < network.parameters.maxCommittableAge / 2
}

/** A signed block in all its forms. */
export interface SignedBlock {
  readonly block: Block
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly blockId: BlockId
}

/** The changes of a test to a block before it is signed. */
export interface BlockChanges {
  readonly header?: Partial<BlockHeader>
  readonly body?: Partial<BasicBlockBody>
  /** The signing key; that of the issuer by default. */
  readonly key?: Keypair
}

/** A signed block with a payload, by default issued now. */
export function blockOf(
  { network, header, strongParents }: Offer,
  payload: Payload | undefined,
  changes: BlockChanges = {},
): SignedBlock {
  const now = BigInt(Date.now()) * 1_000_000n
  const issuingTime = now > header.issuingTime ? now : header.issuingTime
  const { key = issuer.key } = changes
  const body: BasicBlockBody = {
    type: 0,
    strongParents,
    weakParents: [],
    shallowLikeParents: [],
    payload,
    maxBurnedMana: 0n,
    ...changes.body,
  }
  const draft: Block = {
    header: { ...header, issuingTime, ...changes.header },
    body,
    signature: key.sign(new Uint8Array()),
  }
  const cost = BigInt(nodeWorkScore(network.parameters, draft))
  const maxBurnedMana = changes.body?.maxBurnedMana ?? cost
  return signBlock(network, { ...draft, body: { ...body, maxBurnedMana } }, key)
}

function signBlock(network: Network, draft: Block, key: Keypair): SignedBlock {
  const slot = slotOfTime(network.parameters, draft.header.issuingTime)
  const { signingInput } = identifyBlock(encode(Block, draft), slot)
  const block = { ...draft, signature: key.sign(signingInput) }
  const bytes = encode(Block, block)
  return { block, bytes, blockId: identifyBlock(bytes, slot).blockId }
}

export function taggedData(tag: Hex, data: Hex): Payload {
  return { type: 0, tag, data }
}

/** A transaction that spends one output and burns its mana. */
export interface Payment {
  readonly spend: OutputId
  /** The key of the owner of the spent output. */
  readonly key: Keypair
  readonly outputs: readonly BasicOutput[]
  readonly creationSlot: SlotIndex
  /** The commitment of a context input; it determines the slot for timelocks and expirations. */
  readonly commitment?: CommitmentId
}

/** A signed transaction and the ids of its outputs. */
export interface SignedPayment {
  readonly payload: SignedTransaction
  readonly transactionId: TransactionId
  readonly created: readonly OutputId[]
}

/** Creates and signs a transaction. */
export function paymentOf(network: Network, payment: Payment): SignedPayment {
  const { spend, key, outputs, creationSlot, commitment } = payment
  const input = {
    type: 0,
    transactionId: transactionOf(spend),
    transactionOutputIndex: indexOf(spend),
  } as const
  const transaction: Transaction = {
    networkId: network.id,
    creationSlot,
    contextInputs: commitment === undefined ? [] : [{ type: 0, commitmentId: commitment }],
    inputs: [input],
    allotments: [],
    capabilities: burnMana,
    payload: undefined,
    outputs,
  }
  const { signingHash, transactionId } = identifyTransaction(transaction)
  return {
    payload: { type: 1, transaction, unlocks: [{ type: 0, signature: key.sign(signingHash) }] },
    transactionId,
    created: outputs.map((_, index) => outputId(transactionId, index)),
  }
}

/** The capabilities mask of a transaction that may burn mana only. */
const burnMana = '0x02'

/** An output that a key owns. */
export function ownedBy({ publicKeyHash: pubKeyHash }: Keypair, amount: bigint): BasicOutput {
  const address = { type: 0, pubKeyHash } as const
  return { type: 0, amount, mana: 0n, unlockConditions: [{ type: 0, address }], features: [] }
}

/** The current slot. */
export function slotNow({ parameters }: Network): SlotIndex {
  return slotOfTime(parameters, BigInt(Date.now()) * 1_000_000n)
}

/** The outputs of an address at genesis, from milestone 0 on its first page of updates. */
export async function genesisOutputs(url: string, key: Keypair): Promise<OutputId[]> {
  const path = `/api/explorer/v2/ledger/updates/by-address/${addressOf(key)}`
  const { items } = await restJson(`${url}${path}?sort=oldest`)
  return items
    .filter((item: { milestoneIndex: number }) => item.milestoneIndex === 0)
    .map((item: { outputId: OutputId }) => item.outputId)
}

/** Submits a serialized block. */
export function postBytes(url: string, bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
  return rest(`${url}/api/core/v3/blocks`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.iota.serializer-v2' },
    body: bytes,
  })
}
