import { hexToBytes } from '../../lib/hex.ts'
import {
  AccountAddress,
  type Address,
  AnchorAddress,
  Address as AnyAddress,
  NftAddress,
} from '../../protocol/addresses.ts'
import { decodeBech32, encodeBech32, isMultiReference } from '../../protocol/bech32.ts'
import { type Block, ValidationBlockBody } from '../../protocol/block.ts'
import { addressKey, chainIdOf, foundryId } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import {
  AccountOutput,
  AnchorOutput,
  BasicOutput,
  DelegationOutput,
  FoundryOutput,
  isZero,
  NftOutput,
  type Output,
} from '../../protocol/outputs.ts'
import {
  BlockId,
  DelegationId,
  FoundryId,
  OutputId,
  TransactionId,
} from '../../protocol/primitives.ts'
import { decode, parse, type Schema } from '../../protocol/schema/schema.ts'
import { type Payload, SignedTransaction, TaggedData } from '../../protocol/transaction.ts'
import {
  AddressUnlock,
  Expiration,
  Governor,
  ImmutableAccount,
  StateController,
  StorageDepositReturn,
  Timelock,
} from '../../protocol/unlock-conditions.ts'

/** The live topics, and those of a block or an output (rest.md 6). */

/** What a topic is about. */
export type Topic =
  | { readonly kind: 'slots' }
  | { readonly kind: 'blocks' }
  | { readonly kind: 'block'; readonly blockId: BlockId }
  | { readonly kind: 'transaction'; readonly transactionId: TransactionId }
  | { readonly kind: 'included-block'; readonly transactionId: TransactionId }
  | { readonly kind: 'output'; readonly outputId: OutputId }
  | { readonly kind: 'outputs' }

/** The suffix of the same topic with bytes instead of JSON. */
export const rawSuffix = '/raw'

/** What a topic is about, whether for JSON or for bytes; `undefined` where there is no such topic. */
export function parseTopic(text: string): Topic | undefined {
  const name = text.endsWith(rawSuffix) ? text.slice(0, -rawSuffix.length) : text
  const plain = plainTopics.get(name)
  if (plain !== undefined) return plain
  const words = name.split('/')
  const [family = '', first = '', second = '', third = ''] = words
  const shape = `${family}:${words.length}`
  if (shape === 'block-metadata:2') return idTopic(BlockId, first, blockTopic)
  if (shape === 'transaction-metadata:2') return idTopic(TransactionId, first, transactionTopic)
  if (shape === 'transactions:3' && second === 'included-block-metadata')
    return idTopic(TransactionId, first, includedBlockTopic)
  if (shape === 'outputs:2') return idTopic(OutputId, first, outputTopic)
  if (shape === 'outputs:3') return parseChain(first, second)
  if (shape === 'outputs:4' && first === 'unlock') return parseUnlock(second, third)
  return parseTag(name)
}

const blocks: Topic = { kind: 'blocks' }
const outputs: Topic = { kind: 'outputs' }

const plainTopics: ReadonlyMap<string, Topic> = new Map<string, Topic>([
  ['commitments/latest', { kind: 'slots' }],
  ['commitments/finalized', { kind: 'slots' }],
  ['blocks', blocks],
  ['blocks/validation', blocks],
  ['blocks/basic', blocks],
  ['blocks/basic/tagged-data', blocks],
  ['blocks/basic/transaction', blocks],
  ['blocks/basic/transaction/tagged-data', blocks],
  ['block-metadata/accepted', blocks],
  ['block-metadata/confirmed', blocks],
])

function blockTopic(blockId: BlockId): Topic {
  return { kind: 'block', blockId }
}

function transactionTopic(transactionId: TransactionId): Topic {
  return { kind: 'transaction', transactionId }
}

function includedBlockTopic(transactionId: TransactionId): Topic {
  return { kind: 'included-block', transactionId }
}

function outputTopic(outputId: OutputId): Topic {
  return { kind: 'output', outputId }
}

/** Only as it is published: with lower-case digits. */
function idTopic<T>(schema: Schema<T>, text: string, topic: (id: T) => Topic): Topic | undefined {
  const id = parse(schema, text)
  return id.ok && id.value === text ? topic(id.value) : undefined
}

function parseChain(kind: string, id: string): Topic | undefined {
  if (kind === 'foundry') return idTopic(FoundryId, id, () => outputs)
  if (kind === 'delegation') return idTopic(DelegationId, id, () => outputs)
  const address = chainAddresses.get(kind)
  return address !== undefined && addressTypeOf(id) === address.code ? outputs : undefined
}

/** Chains that are named by their address. */
const chainAddresses = new Map<string, { readonly code: number }>([
  ['account', AccountAddress],
  ['nft', NftAddress],
  ['anchor', AnchorAddress],
])

/** The conditions by which outputs are published, by their type. */
const conditionNames = {
  [AddressUnlock.code]: 'address',
  [StorageDepositReturn.code]: 'storage-return',
  [Expiration.code]: 'expiration',
  [StateController.code]: 'state-controller',
  [Governor.code]: 'governor',
  [ImmutableAccount.code]: 'immutable-account',
} as const

const conditions: readonly string[] = Object.values(conditionNames)

/** The wildcard for every condition. */
export const anyCondition = '+'

function parseUnlock(condition: string, address: string): Topic | undefined {
  const isKnown = condition === anyCondition || conditions.includes(condition)
  return isKnown && addressTypeOf(address) !== undefined ? outputs : undefined
}

function addressTypeOf(text: string): number | undefined {
  const bech32 = decodeBech32(text)
  if (!bech32.ok || text !== text.toLowerCase()) return undefined
  const { bytes } = bech32.value
  const isAddress = isMultiReference(bytes) || decode(AnyAddress, bytes).ok
  return isAddress ? bytes[0] : undefined
}

const tagForm = /^blocks\/basic\/(transaction\/)?tagged-data\/0x([0-9a-f]{2}){1,64}$/

function parseTag(name: string): Topic | undefined {
  return tagForm.test(name) ? blocks : undefined
}

/** The topics on which a new block is published. */
export function topicsOfBlock({ body }: Block): readonly string[] {
  if (is(ValidationBlockBody, body)) return ['blocks', 'blocks/validation']
  return ['blocks', 'blocks/basic', ...topicsOfPayload(body.payload)]
}

function topicsOfPayload(payload: Payload | undefined): readonly string[] {
  if (is(TaggedData, payload)) return taggedTopics('blocks/basic/tagged-data', payload.tag)
  if (!is(SignedTransaction, payload)) return []
  const inner = payload.transaction.payload
  const name = 'blocks/basic/transaction'
  return [name, ...(inner === undefined ? [] : taggedTopics(`${name}/tagged-data`, inner.tag))]
}

function taggedTopics(name: string, tag: string): readonly string[] {
  return tag === '0x' ? [name] : [name, `${name}/${tag}`]
}

/** The topics on which a created or spent output is published; `hrp` is that of the network. */
export function topicsOfOutput(hrp: string, outputId: OutputId, output: Output): readonly string[] {
  const chain = chainTopic(hrp, outputId, output)
  const unlocks = output.unlockConditions.flatMap((one) => {
    if (is(Timelock, one)) return []
    const address = 'address' in one ? one.address : one.returnAddress
    return [`outputs/unlock/${conditionNames[one.type]}/${bech32Of(hrp, address)}`]
  })
  return [`outputs/${outputId}`, ...(chain === undefined ? [] : [chain]), ...unlocks]
}

function chainTopic(hrp: string, outputId: OutputId, output: Output): string | undefined {
  const idOr = (id: string) => (isZero(id) ? chainIdOf(outputId) : id)
  const bech32 = ({ code }: { readonly code: number }, id: string) =>
    encodeBech32(hrp, Uint8Array.of(code, ...hexToBytes(`0x${id.slice(2)}`)))
  switch (output.type) {
    case BasicOutput.code:
      return undefined
    case AccountOutput.code:
      return `outputs/account/${bech32(AccountAddress, idOr(output.accountId))}`
    case AnchorOutput.code:
      return `outputs/anchor/${bech32(AnchorAddress, idOr(output.anchorId))}`
    case FoundryOutput.code:
      return `outputs/foundry/${foundryId(output)}`
    case NftOutput.code:
      return `outputs/nft/${bech32(NftAddress, idOr(output.nftId))}`
    case DelegationOutput.code:
      return `outputs/delegation/${idOr(output.delegationId)}`
  }
}

function bech32Of(hrp: string, address: Address): string {
  return encodeBech32(hrp, hexToBytes(addressKey(address)))
}
