import { type Hex, isHex } from '../../lib/hex.ts'
import { membersOf } from '../../lib/json.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { SlotCommitment } from '../../protocol/commitment.ts'
import {
  BlockMetadata,
  binaryType,
  IssuanceOffer,
  OutputMetadata,
  OutputWithMetadata,
  ParametersInForce,
  TransactionMetadata,
  UtxoChangesFull,
} from '../../protocol/node-responses.ts'
import { supportedProtocolVersion } from '../../protocol/parameters.ts'
import {
  type BlockId,
  CommitmentId,
  OutputId,
  SlotIndex,
  type TransactionId,
} from '../../protocol/primitives.ts'
import { refusalMessage } from '../../protocol/refusal-message.ts'
import { list, struct } from '../../protocol/schema/declare.ts'
import { flag } from '../../protocol/schema/response-scalars.ts'
import { type Infer, parse, type Schema } from '../../protocol/schema/schema.ts'
import type { NodeRequest, NodeResponse } from './client.ts'

/** The requests to a node, and the parsers of its responses: by the schemas of the protocol, with size limits (rest.md 4.1). */

/** A request, and the parser of its response. */
export interface NodeQuery<T> extends Subject {
  readonly request: NodeRequest
  /** Parses a response; `undefined` if the node does not have the item. */
  readonly read: (answer: NodeResponse) => Result<T | undefined, AnswerUseless>
}

/** The slot or the output that a request is about. */
export interface Subject {
  readonly slot?: SlotIndex
  readonly outputId?: OutputId
}

/** Why a response is useless: the node refused the request, or the response cannot be read. */
export interface AnswerUseless {
  /** Description of the fault. */
  readonly reason: string
  readonly isUnreadable: boolean
  /** The output of the unreadable part, if the part belongs to an output of a list. */
  readonly outputId?: OutputId | undefined
}

/** Skips parameters of other versions, which have other members. */
const ParametersIfKnown: Schema<ParametersInForce | undefined> = {
  ...ParametersInForce,
  parse: (json) => {
    const { version } = membersOf(membersOf(json).parameters)
    const isOther = typeof version === 'number' && version !== supportedProtocolVersion
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

export function info(): NodeQuery<NodeFacts> {
  return json(`${core}/info`, NodeFacts, { limit: limits.info })
}

/** The commitment to a slot; absent while the slot is not committed. */
export function commitmentOf(slot: SlotIndex): NodeQuery<SlotCommitment> {
  return json(`${core}/commitments/by-slot/${slot}`, SlotCommitment, { slot })
}

/** The changes of a slot, with the outputs. */
export function changesOf(slot: SlotIndex): NodeQuery<UtxoChangesFull> {
  const path = `${core}/commitments/by-slot/${slot}/utxo-changes/full`
  return json(path, UtxoChangesFull, { limit: limits.changes, slot })
}

/**
 * An output with its proof and its metadata. iota-core serves spent outputs only by this route: the route without metadata serves
 * only unspent outputs.
 */
export function outputOf(id: OutputId): NodeQuery<OutputWithMetadata> {
  return json(`${core}/outputs/${id}/full`, OutputWithMetadata, { outputId: id })
}

export function outputMetadataOf(id: OutputId): NodeQuery<OutputMetadata> {
  return json(`${core}/outputs/${id}/metadata`, OutputMetadata, { outputId: id })
}

export function blockOf(id: BlockId): NodeQuery<Uint8Array> {
  return bytes(`${core}/blocks/${id}`)
}

export function blockMetadataOf(id: BlockId): NodeQuery<BlockMetadata> {
  return json(`${core}/blocks/${id}/metadata`, BlockMetadata)
}

export function transactionMetadataOf(id: TransactionId): NodeQuery<TransactionMetadata> {
  return json(`${core}/transactions/${id}/metadata`, TransactionMetadata)
}

/** The bytes of the block with which a transaction was booked. */
export function includedBlockOf(id: TransactionId): NodeQuery<Uint8Array> {
  return bytes(`${core}/transactions/${id}/included-block`)
}

/** The parents and the commitment that a block issued now should refer to. */
export function issuance(): NodeQuery<IssuanceOffer> {
  return json(`${core}/blocks/issuance`, IssuanceOffer)
}

/** Any other route of the core API, by its path after the base. */
export function coreAnswer<T>(path: string, schema: Schema<T>): NodeQuery<T> {
  return json(core + path, schema, { limit: limits.info })
}

/** The log id, which only a gateway has. */
export function logIdOfGateway(): NodeQuery<Hex> {
  return {
    request: get('/api/gateway/v1/log', jsonType, limits.usual),
    read: (answer) => {
      // Any other status means that the node is not a gateway.
      if (answer.status !== 200) return ok(undefined)
      const answered = parseJson(answer.body)
      if (!answered.ok) return unreadable(answered.error)
      const { logId } = membersOf(answered.value)
      const isLogId = typeof logId === 'string' && isHex(logId) && logId.length === 18
      if (isLogId) return ok(logId.toLowerCase() as Hex)
      return unreadable('the id of the log is malformed')
    },
  }
}

export function submission(block: Uint8Array): NodeRequest {
  return {
    method: 'POST',
    path: `${core}/blocks`,
    headers: { accept: jsonType, 'content-type': binaryType },
    body: Uint8Array.from(block),
    // iota-core may take ten seconds to refuse a block.
    timeoutMs: 15_000,
    limit: limits.usual,
  }
}

/** The message of a refusal, truncated. */
export function refusalOf({ status, body }: NodeResponse): string {
  const answered = parseJson(body)
  const { error } = answered.ok ? membersOf(answered.value) : {}
  const { message } = membersOf(error)
  const text = typeof message === 'string' ? message : `status ${status}`
  return text.replaceAll(/\p{Cc}/gu, ' ').slice(0, maxMessageLength)
}

const maxMessageLength = 1_000
const jsonType = 'application/json'
const timeoutMs = 10_000

/** Maximum sizes of responses, in bytes. */
const limits = {
  usual: 1_048_576,
  // The table of decay factors alone may have 65,535 entries.
  info: 4_194_304,
  // About 100,000 outputs.
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
      const corrected = mayHaveEmptyText(answer.body)
        ? parseJson(answer.body, emptyBytes)
        : undefined
      const again = corrected?.ok ? parse(schema, corrected.value) : value
      if (again.ok) return again
      const { error } = again
      return unreadable(refusalMessage(error, 'answer'), outputAt(answered.value, error.path))
    },
  }
}

/** Corrects empty metadata entries: iota-core writes their value as an empty string (codec reference 19, row 29). */
function emptyBytes(key: string, value: unknown): unknown {
  if (key !== 'entries' || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, bytes]) => [name, bytes === '' ? '0x' : bytes]),
  )
}

/** Whether a member of the JSON may be an empty string. Calling `emptyBytes` for each member of a long response takes seconds. */
function mayHaveEmptyText(body: Uint8Array): boolean {
  return /:\s*""/.test(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
}

/** The output that a path into the changes of a slot belongs to. */
function outputAt(json: unknown, path: string): OutputId | undefined {
  const [list = '', index = ''] = path.split('.')
  const outputs = membersOf(json)[list]
  const element: unknown = Array.isArray(outputs) ? outputs[Number(index)] : undefined
  const id = parse(OutputId, membersOf(element).outputId)
  return id.ok ? id.value : undefined
}

function refused(answer: NodeResponse): Result<never, AnswerUseless> {
  return err({ reason: refusalOf(answer), isUnreadable: false })
}

function unreadable(reason: string, outputId?: OutputId): Result<never, AnswerUseless> {
  return err({ reason, isUnreadable: true, outputId })
}

function bytes(path: string): NodeQuery<Uint8Array> {
  return {
    request: get(path, binaryType, limits.usual),
    read: (answer) => {
      if (isAbsent(answer)) return ok(undefined)
      return answer.status === 200 ? ok(answer.body) : refused(answer)
    },
  }
}

/**
 * iota-core responds with 400 for the commitment of a future slot, and with 404 for an unknown block, each with an error as JSON. A
 * 404 without it is that of a proxy whose node is away.
 */
function isAbsent({ status, body }: NodeResponse): boolean {
  if (status !== 404 && status !== 400) return false
  const answered = parseJson(body)
  return answered.ok && membersOf(answered.value).error !== undefined
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
