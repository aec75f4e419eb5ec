import { present } from '../../lib/assert.ts'
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
import { addressKey } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import { BasicOutput, type Output } from '../../protocol/outputs.ts'
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
import { chainKinds, chainOfOutput } from '../../service/chains/read-chain.ts'

/** Parses topics, and determines the topics of a block or an output (rest.md 6). */

export type Topic =
  | { readonly kind: 'slots' }
  | { readonly kind: 'blocks' }
  | { readonly kind: 'block'; readonly blockId: BlockId }
  | { readonly kind: 'transaction'; readonly transactionId: TransactionId }
  | { readonly kind: 'included-block'; readonly transactionId: TransactionId }
  | { readonly kind: 'output'; readonly outputId: OutputId }
  | { readonly kind: 'outputs' }

/** The suffix of topics whose messages are bytes instead of JSON. */
export const rawSuffix = '/raw'

/** Parses the subject of a topic, for JSON or bytes; returns `undefined` for an unknown topic. */
export function parseTopic(text: string): Topic | undefined {
  const name = text.endsWith(rawSuffix) ? text.slice(0, -rawSuffix.length) : text
  const plain = plainTopics.get(name)
  if (plain !== undefined) return plain
  const words = name.split('/')
  const [family = '', first = '', second = '', third = ''] = words
  const shape = `${family}:${words.length}`
  if (shape === 'block-metadata:2')
    return idTopic(BlockId, first, (blockId) => ({ kind: 'block', blockId }))
  if (shape === 'transaction-metadata:2')
    return idTopic(TransactionId, first, (transactionId) => ({
      kind: 'transaction',
      transactionId,
    }))
  if (shape === 'transactions:3' && second === 'included-block-metadata')
    return idTopic(TransactionId, first, (transactionId) => ({
      kind: 'included-block',
      transactionId,
    }))
  if (shape === 'outputs:2')
    return idTopic(OutputId, first, (outputId) => ({ kind: 'output', outputId }))
  if (shape === 'outputs:3') return parseChain(first, second)
  if (shape === 'outputs:4' && first === 'unlock') return parseUnlock(second, third)
  return tagForm.test(name) ? blocks : undefined
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

/** Accepts an id only in the form that is published: with lower-case digits. */
function idTopic<T>(schema: Schema<T>, text: string, topic: (id: T) => Topic): Topic | undefined {
  const id = parse(schema, text)
  return id.ok && id.value === text ? topic(id.value) : undefined
}

function parseChain(name: string, id: string): Topic | undefined {
  const naming = chainNamings.find((one) => one.name === name)
  if (naming === undefined) return undefined
  if ('id' in naming) return idTopic<string>(naming.id, id, () => outputs)
  return addressTypeOf(id) === naming.address ? outputs : undefined
}

/** How topics name each kind of chain: by address or by id. */
const chainNamings = [
  { kind: chainKinds.ACCOUNT, name: 'account', address: AccountAddress.code },
  { kind: chainKinds.ANCHOR, name: 'anchor', address: AnchorAddress.code },
  { kind: chainKinds.NFT, name: 'nft', address: NftAddress.code },
  { kind: chainKinds.FOUNDRY, name: 'foundry', id: FoundryId },
  { kind: chainKinds.DELEGATION, name: 'delegation', id: DelegationId },
] as const

/** The names of unlock conditions in topics, by type. */
const conditionNames = {
  [AddressUnlock.code]: 'address',
  [StorageDepositReturn.code]: 'storage-return',
  [Expiration.code]: 'expiration',
  [StateController.code]: 'state-controller',
  [Governor.code]: 'governor',
  [ImmutableAccount.code]: 'immutable-account',
} as const

const conditions: readonly string[] = Object.values(conditionNames)

/** The wildcard for all unlock conditions. */
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

/** Returns the topics on which a new block is published. */
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

/** Returns the topics on which a created or spent output is published; `hrp` is the human-readable part of the network. */
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
  // An implicit account is a basic output, which has no chain topic.
  if (is(BasicOutput, output)) return undefined
  const { kind, chainId } = present(chainOfOutput({ outputId, output: () => output }), 'a chain')
  const naming = present(
    chainNamings.find((one) => one.kind === kind),
    'its name',
  )
  const address = 'address' in naming && Uint8Array.of(naming.address, ...hexToBytes(chainId))
  return `outputs/${naming.name}/${address ? encodeBech32(hrp, address) : chainId}`
}

function bech32Of(hrp: string, address: Address): string {
  return encodeBech32(hrp, hexToBytes(addressKey(address)))
}
