import { type Hex, isHex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { SlotCommitment } from '../../protocol/commitment.ts'
import {
  BlockMetadata,
  IssuanceOffer,
  OutputMetadata,
  OutputWithMetadata,
  ParametersInForce,
  TransactionMetadata,
  UtxoChangesFull,
} from '../../protocol/node-answers.ts'
import { knownVersion } from '../../protocol/parameters.ts'
import {
  type BlockId,
  CommitmentId,
  OutputId,
  SlotIndex,
  type TransactionId,
} from '../../protocol/primitives.ts'
import { refusalMessage } from '../../protocol/refusal-message.ts'
import { flag } from '../../protocol/schema/answer-scalars.ts'
import { list, struct } from '../../protocol/schema/declare.ts'
import { type Infer, parse, type Schema } from '../../protocol/schema/schema.ts'
import type { NodeAnswer, NodeRequest } from './client.ts'

/** The requests to a node, and how its answers are read: by the schemas of the protocol, within bounds (rest.md 4.1). */

/** A request, and what its answer means. */
export interface NodeQuery<T> extends Subject {
  readonly request: NodeRequest
  /** The meaning of an answer, `undefined` where nothing is there. */
  readonly read: (answer: NodeAnswer) => Result<T | undefined, AnswerUseless>
}

/** The slot or the output that a request is about. */
export interface Subject {
  readonly slot?: SlotIndex
  readonly outputId?: OutputId
}

/** Why an answer means nothing: the node refuses to say it, or it cannot be read. */
export interface AnswerUseless {
  /** In words. */
  readonly reason: string
  readonly isUnreadable: boolean
  /** Of the part that cannot be read, where it belongs to an output of a list. */
  readonly outputId?: OutputId | undefined
}

/** Parameters of another version have other members; they are skipped. */
const ParametersIfKnown: Schema<ParametersInForce | undefined> = {
  ...ParametersInForce,
  parse: (json) => {
    const { version } = members(members(json).parameters)
    const isOther = typeof version === 'number' && version !== knownVersion
    return isOther ? undefined : ParametersInForce.parse(json)
  },
  print: (value) => value && ParametersInForce.print(value),
}

/** The part of a node's `info` that a follower needs. */
export const NodeFacts = struct('NodeFacts', {
  status: struct('NodeFactsStatus', {
    isHealthy: flag,
    latestCommitmentId: CommitmentId,
    latestFinalizedSlot: SlotIndex,
  }),
  protocolParameters: list('u8', ParametersIfKnown, { max: 0xff, size: 'LIST_COUNT' }),
})
export interface NodeFacts extends Infer<typeof NodeFacts> {}

const core = '/api/core/v3'

/** The node and its network. */
export function info(): NodeQuery<NodeFacts> {
  return json(`${core}/info`, NodeFacts, { limit: limits.info })
}

/** The commitment to a slot; nothing there while it is not committed. */
export function commitmentOf(slot: SlotIndex): NodeQuery<SlotCommitment> {
  return json(`${core}/commitments/by-slot/${slot}`, SlotCommitment, { slot })
}

/** What a slot changed, with the outputs. */
export function changesOf(slot: SlotIndex): NodeQuery<UtxoChangesFull> {
  const path = `${core}/commitments/by-slot/${slot}/utxo-changes/full`
  return json(path, UtxoChangesFull, { limit: limits.changes, slot })
}

/**
 * An output with its proof and its metadata. A node of IOTA serves a spent output by this route alone: the one without
 * metadata has unspent ones only.
 */
export function outputOf(id: OutputId): NodeQuery<OutputWithMetadata> {
  return json(`${core}/outputs/${id}/full`, OutputWithMetadata, { outputId: id })
}

/** The metadata of an output. */
export function outputMetadataOf(id: OutputId): NodeQuery<OutputMetadata> {
  return json(`${core}/outputs/${id}/metadata`, OutputMetadata, { outputId: id })
}

/** The bytes of a block. */
export function blockOf(id: BlockId): NodeQuery<Uint8Array> {
  return bytes(`${core}/blocks/${id}`)
}

/** The metadata of a block. */
export function blockMetadataOf(id: BlockId): NodeQuery<BlockMetadata> {
  return json(`${core}/blocks/${id}/metadata`, BlockMetadata)
}

/** The metadata of a transaction. */
export function transactionMetadataOf(id: TransactionId): NodeQuery<TransactionMetadata> {
  return json(`${core}/transactions/${id}/metadata`, TransactionMetadata)
}

/** The bytes of the block that a transaction was booked with. */
export function includedBlockOf(id: TransactionId): NodeQuery<Uint8Array> {
  return bytes(`${core}/transactions/${id}/included-block`)
}

/** What a block issued now should refer to. */
export function issuance(): NodeQuery<IssuanceOffer> {
  return json(`${core}/blocks/issuance`, IssuanceOffer)
}

/** Any other route of the core API, by its path after the base. */
export function coreAnswer<T>(path: string, schema: Schema<T>): NodeQuery<T> {
  return json(core + path, schema, { limit: limits.info })
}

/** The id of the log; only a gateway has one. */
export function logIdOfGateway(): NodeQuery<Hex> {
  return {
    request: get('/api/gateway/v1/log', jsonType, limits.usual),
    read: (answer) => {
      // Any other status means that the node is no gateway.
      if (answer.status !== 200) return ok(undefined)
      const answered = parseJson(answer.body)
      if (!answered.ok) return unreadable(answered.error)
      const { logId } = members(answered.value)
      const isLogId = typeof logId === 'string' && isHex(logId) && logId.length === 18
      if (isLogId) return ok(logId.toLowerCase() as Hex)
      return unreadable('the id of the log is malformed')
    },
  }
}

/** A block for the node. */
export function submission(block: Uint8Array): NodeRequest {
  return {
    method: 'POST',
    path: `${core}/blocks`,
    headers: { accept: jsonType, 'content-type': bytesType },
    body: Uint8Array.from(block),
    // A node of IOTA that refuses a block may take ten seconds for it.
    timeoutMs: 15_000,
    limit: limits.usual,
  }
}

/** The message of a refusal, shortened. */
export function refusalOf({ status, body }: NodeAnswer): string {
  const answered = parseJson(body)
  const { error } = answered.ok ? members(answered.value) : {}
  const { message } = members(error)
  const words = typeof message === 'string' ? message : `status ${status}`
  return words.replaceAll(/\p{Cc}/gu, ' ').slice(0, longestMessage)
}

const longestMessage = 1_000
const jsonType = 'application/json'
const bytesType = 'application/vnd.iota.serializer-v2'
const timeoutMs = 10_000

/** The longest answers that are read, in bytes. */
const limits = {
  usual: 1_048_576,
  // The table of decay factors alone may have 65,535 entries.
  info: 4_194_304,
  // Some 100,000 outputs.
  changes: 134_217_728,
}

function get(path: string, accept: string, limit: number): NodeRequest {
  return { method: 'GET', path, headers: { accept }, timeoutMs, limit }
}

interface JsonOptions extends Subject {
  readonly limit?: number
}

function json<T>(
  path: string,
  schema: Schema<T>,
  { limit = limits.usual, ...subject }: JsonOptions = {},
): NodeQuery<T> {
  return {
    ...subject,
    request: get(path, jsonType, limit),
    read: (answer) => {
      if (isAbsent(answer)) return ok(undefined)
      if (answer.status !== 200) return refused(answer)
      const answered = parseJson(answer.body)
      if (!answered.ok) return unreadable(answered.error)
      const value = parse(schema, answered.value)
      if (value.ok) return value
      const mended = parseJson(answer.body, emptyBytes)
      const again = mended.ok ? parse(schema, mended.value) : value
      if (again.ok) return again
      const { error } = again
      return unreadable(refusalMessage(error, 'answer'), outputAt(answered.value, error.path))
    },
  }
}

/** A node of IOTA writes the empty value of a metadata entry as an empty text (codec reference 19, row 29). */
function emptyBytes(key: string, value: unknown): unknown {
  if (key !== 'entries' || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, bytes]) => [name, bytes === '' ? '0x' : bytes]),
  )
}

/** The output that a path into the changes of a slot belongs to. */
function outputAt(json: unknown, path: string): OutputId | undefined {
  const [list = '', index = ''] = path.split('.')
  const outputs = members(json)[list]
  const element: unknown = Array.isArray(outputs) ? outputs[Number(index)] : undefined
  const id = parse(OutputId, members(element).outputId)
  return id.ok ? id.value : undefined
}

function refused(answer: NodeAnswer): Result<never, AnswerUseless> {
  return err({ reason: refusalOf(answer), isUnreadable: false })
}

function unreadable(reason: string, outputId?: OutputId): Result<never, AnswerUseless> {
  return err({ reason, isUnreadable: true, outputId })
}

function bytes(path: string): NodeQuery<Uint8Array> {
  return {
    request: get(path, bytesType, limits.usual),
    read: (answer) => {
      if (isAbsent(answer)) return ok(undefined)
      return answer.status === 200 ? ok(answer.body) : refused(answer)
    },
  }
}

/** A node of IOTA answers 400 for the commitment of a slot to come, and 404 for a block it does not have. */
function isAbsent({ status }: NodeAnswer): boolean {
  return status === 404 || status === 400
}

function parseJson(
  body: Uint8Array,
  revive?: (key: string, value: unknown) => unknown,
): Result<unknown, string> {
  try {
    return ok(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body), revive))
  } catch {
    return err('the answer is not JSON')
  }
}

function members(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null ? { ...json } : {}
}
