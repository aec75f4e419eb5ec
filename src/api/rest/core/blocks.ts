import { assert } from '../../../lib/assert.ts'
import { hexToBytes, isHex } from '../../../lib/hex.ts'
import { ok, type Result } from '../../../lib/result.ts'
import { Block } from '../../../protocol/block.ts'
import { BlockId } from '../../../protocol/primitives.ts'
import { decode, print } from '../../../protocol/schema/schema.ts'
import type { Services } from '../../../service/services.ts'
import { type Submission, submitBlock } from '../../../service/submit-block.ts'
import { type GatewayError, toRest } from '../../errors.ts'
import { checkSubmission } from '../../submission-policy.ts'
import { type BodyError, parseJson } from '../body.ts'
import { json, type RestRequest, type RestResponse, type Route } from '../route.ts'
import { binaryType, pathId, wantsBytes } from './ids.ts'

/** Submitting a block (specification 4.2) and reading it back (rest.md 4). */

/** The statuses that the specification knows for a submission, and no other (specification 7). */
const statuses = [201, 400, 403, 500, 503]

/** Takes a block as JSON or bytes, or a payload around which the node builds one. */
export const submitBlockRoute: Route = {
  method: 'POST',
  path: '/api/core/v3/blocks',
  query: [],
  answer: async (request, services) => {
    const refuse = (error: GatewayError) => toRest(error, statuses)
    const allowed = await checkSubmission(services.submissionPolicy, request.caller)
    if (!allowed.ok) return refuse(allowed.error)
    const submission = await readSubmission(request)
    if (!submission.ok) return refuse(submission.error)
    const blockId = await submitBlock(services, submission.value)
    if (!blockId.ok) return refuse(blockId.error)
    const location = blockId.value
    if (!wantsBytes(request)) return json(201, { blockId: location }, { location })
    return {
      status: 201,
      headers: { 'content-type': binaryType, location },
      body: hexToBytes(location),
    }
  },
}

/** A block as it was submitted. */
export const blockRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/blocks/{blockId}',
  query: [],
  answer: async (request, services) => {
    const found = await findBlock(request, services)
    if (!found.ok) return toRest(found.error)
    const { bytes } = found.value
    if (wantsBytes(request)) {
      return { status: 200, headers: { 'content-type': binaryType }, body: bytes }
    }
    const block = decode(Block, bytes)
    assert(block.ok, 'a stored block decodes')
    return json(200, print(Block, block.value))
  },
}

/** Where a block stands. */
export const blockMetadataRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/blocks/{blockId}/metadata',
  query: [],
  answer: async (request, services): Promise<RestResponse> => {
    const found = await findBlock(request, services)
    if (!found.ok) return toRest(found.error)
    const { blockId, state } = found.value
    return json(200, { blockId, blockState: state.toLowerCase() })
  },
}

async function findBlock(request: RestRequest, { store }: Services) {
  const id = pathId(request, 'blockId', BlockId)
  if (!id.ok) return id
  const row = await store.read.block(id.value)
  if (row !== undefined) return ok(row)
  return { ok: false, error: { code: 'NOT_FOUND', what: 'block', id: id.value } } as const
}

const jsonType = /^application\/json/i
const serializerType = /^application\/vnd\.[^/;,]+\.serializer-v2/i

async function readSubmission(request: RestRequest): Promise<Result<Submission, BodyError>> {
  const type = request.headers['content-type'] ?? ''
  const isJson = jsonType.test(type)
  if (!isJson && !serializerType.test(type)) {
    const expected = 'application/json or application/vnd.iota.serializer-v2'
    const given = type === '' ? 'none' : type
    return { ok: false, error: { code: 'CONTENT_TYPE_REFUSED', given, expected } }
  }
  const body = await request.body()
  if (!body.ok) return body
  if (!isJson) return ok({ form: 'bytes', bytes: spelledBytes(body.value) })
  const value = parseJson(body.value)
  return value.ok
    ? ok({ form: isPayload(value.value) ? 'payload' : 'json', json: value.value })
    : value
}

/** The specification calls the binary body a string: a text `0x…` is taken as the bytes it spells. */
function spelledBytes(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString('latin1').trim()
  return text.startsWith('0x') && isHex(text)
    ? hexToBytes(text.toLowerCase() as `0x${string}`)
    : body
}

/** A payload has a type; a block has none, but a header. */
function isPayload(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && !('header' in value)
}
