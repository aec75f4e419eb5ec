import { valueIn } from '../../lib/result.ts'
import { Block } from '../../protocol/block.ts'
import { SlotCommitment } from '../../protocol/commitment.ts'
import {
  BlockMetadata,
  OutputWithMetadata,
  TransactionMetadata,
} from '../../protocol/node-responses.ts'
import type { OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { encode, print, type Schema } from '../../protocol/schema/schema.ts'
import { type BlockView, blockMetadata, readBlock } from '../../service/blocks/read-block.ts'
import {
  isBooked,
  readTransaction,
  type TransactionView,
  transactionMetadata,
} from '../../service/blocks/read-transaction.ts'
import type { LedgerEvent } from '../../service/feed/ledger-events.ts'
import { outputMetadata } from '../../service/outputs/output-metadata.ts'
import { readProvenOutput } from '../../service/outputs/output-proof.ts'
import { readOutput } from '../../service/outputs/read-output.ts'
import type { Services } from '../../service/services.ts'
import { decodeCommitment, findCommitment } from '../../service/slots/read-commitment.ts'
import type { TopicInterests } from './interests.ts'
import { rawSuffix, type Topic, topicsOfBlock, topicsOfOutput } from './topics.ts'

/** Creates MQTT messages with their topics. */

/** A message to publish; it is serialised only if its topics have subscribers. */
export interface Message {
  readonly topics: readonly string[]
  /** Serialises the message as JSON. */
  json(): string
  bytes(): Uint8Array
}

export type SubscribedTopics = Pick<TopicInterests, 'has' | 'current'>

/** Yields the messages of an event. */
export async function* messagesOf(
  services: Services,
  event: LedgerEvent,
  wanted: SubscribedTopics,
): AsyncGenerator<Message, void, undefined> {
  switch (event.kind) {
    case 'slot':
      return yield* messages(await commitmentMessage(services, event.slot))
    case 'block':
      return yield blockMessage(event.block)
    case 'state':
      yield stateMessage(event.block)
      return yield* transactionMessages(services, event.block, wanted)
    case 'output':
      return yield* messages(await outputMessage(services, event.outputId, wanted))
  }
}

/** Returns the current state of the object of a topic, for a new subscriber; `undefined` if there is none. */
export async function currentState(
  services: Services,
  topic: Topic,
): Promise<Omit<Message, 'topics'> | undefined> {
  switch (topic.kind) {
    case 'block': {
      const block = valueIn(await readBlock(services, topic.blockId))
      return block && message([], BlockMetadata, blockMetadata(block))
    }
    case 'transaction': {
      const transaction = valueIn(await readTransaction(services, topic.transactionId))
      return transaction && transactionMessage(transaction)
    }
    case 'included-block':
      return await includedBlockMessage(services, topic.transactionId)
    case 'output':
      return await outputMessage(services, topic.outputId, undefined)
    case 'slots':
    case 'blocks':
    case 'outputs':
      return undefined
  }
}

function* messages(one: Message | undefined): Generator<Message> {
  if (one !== undefined) yield one
}

async function commitmentMessage(
  services: Services,
  slot: SlotIndex,
): Promise<Message | undefined> {
  const found = await findCommitment(services, slot)
  // In this gateway a slot is final as soon as it is committed.
  const topics = ['commitments/latest', 'commitments/finalized']
  return found && message(topics, SlotCommitment, decodeCommitment(found))
}

function blockMessage({ bytes, block }: BlockView): Message {
  const value = block()
  return {
    topics: topicsOfBlock(value),
    json: () => JSON.stringify(print(Block, value)),
    bytes: () => bytes,
  }
}

function stateMessage(block: BlockView): Message {
  const { blockId, state } = block
  const topics = [`block-metadata/${blockId}`]
  if (state === 'ACCEPTED') topics.push('block-metadata/accepted')
  if (state === 'CONFIRMED' || state === 'FINALIZED') topics.push('block-metadata/confirmed')
  return message(topics, BlockMetadata, blockMetadata(block))
}

/** Yields the messages of the transaction of a block whose state changed, and of its outputs. */
async function* transactionMessages(
  services: Services,
  { transactionId, state }: BlockView,
  wanted: SubscribedTopics,
): AsyncGenerator<Message, void, undefined> {
  if (transactionId === undefined) return
  const topics = [transactionTopic(transactionId), includedTopic(transactionId)]
  const wantsOutputs = wanted.current().outputs
  if (!wantsOutputs && !isWanted(wanted, topics)) return
  const transaction = valueIn(await readTransaction(services, transactionId))
  if (transaction === undefined) return
  yield transactionMessage(transaction)
  yield* messages(await includedBlockMessage(services, transactionId))
  // Outputs of committed slots are published from the log instead.
  if (!wantsOutputs || state !== 'ACCEPTED' || transaction.state !== 'ACCEPTED') return
  for (const outputId of [...transaction.inputIds, ...transaction.outputIds]) {
    yield* messages(await outputMessage(services, outputId, wanted))
  }
}

function transactionMessage(transaction: TransactionView): Message {
  const topics = [transactionTopic(transaction.transactionId)]
  return message(topics, TransactionMetadata, transactionMetadata(transaction))
}

function transactionTopic(id: TransactionId): string {
  return `transaction-metadata/${id}`
}

function includedTopic(id: TransactionId): string {
  return `transactions/${id}/included-block-metadata`
}

async function includedBlockMessage(
  services: Services,
  transactionId: TransactionId,
): Promise<Message | undefined> {
  const transaction = valueIn(await readTransaction(services, transactionId))
  if (transaction === undefined) return undefined
  if (!isBooked(transaction.state)) return undefined
  if (transaction.blockId === undefined) return undefined
  const block = valueIn(await readBlock(services, transaction.blockId))
  return block && message([includedTopic(transactionId)], BlockMetadata, blockMetadata(block))
}

/** Creates the message of an output; `undefined` if `wanted` has none of its topics. Without `wanted` it is always created. */
async function outputMessage(
  services: Services,
  outputId: OutputId,
  wanted: SubscribedTopics | undefined,
): Promise<Message | undefined> {
  const row = await readOutput(services, outputId)
  if (row === undefined) return undefined
  const topics = topicsOfOutput(services.parameters.bech32Hrp, outputId, row.output())
  if (wanted !== undefined && !isWanted(wanted, topics)) return undefined
  // Subscribers are checked first, because the proof is expensive.
  const proven = await readProvenOutput(services, outputId)
  if (!proven.ok || proven.value === undefined) return undefined
  const { output, proof: outputIdProof } = proven.value
  const metadata = await outputMetadata(services, proven.value.row)
  if (!metadata.ok) return undefined
  return message(topics, OutputWithMetadata, { output, outputIdProof, metadata: metadata.value })
}

function isWanted(wanted: SubscribedTopics, topics: readonly string[]): boolean {
  return topics.some((topic) => wanted.has(topic) || wanted.has(topic + rawSuffix))
}

function message<T>(topics: readonly string[], schema: Schema<T>, value: T): Message {
  return {
    topics,
    json: () => JSON.stringify(print(schema, value)),
    bytes: () => encode(schema, value),
  }
}
