import { hexToBytes, isHex } from '../../../lib/hex.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import { Block } from '../../../protocol/block.ts'
import { BlockCreated } from '../../../protocol/node-answers.ts'
import { SignedTransaction, TaggedData } from '../../../protocol/transaction.ts'
import { type Submission, submitBlock } from '../../../service/submit/submit-block.ts'
import type { BodyError } from '../../api-errors.ts'
import { submissionCost } from '../../graphql/prices.ts'
import { checkSubmission } from '../../submission-policy.ts'
import { parseJson } from '../body.ts'
import { binaryType, binaryTypes } from '../negotiation.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { serialized } from '../reply.ts'
import type { RestRequest } from '../request.ts'
import { route } from '../route.ts'

/** Submitting a block (specification 4.2). */

/** The only statuses that the specification has for a submission, with that of a quota, and what their messages state (specification 7). */
const refusals = {
  statuses: [201, 400, 403, 429, 500, 503],
  // The messages of 403 and 500 state it already.
  titles: { 400: 'invalid data', 503: 'service unavailable' },
}

const created = serialized(
  'The block is kept; the same block again gives the same id.',
  BlockCreated,
)

/** Accepts a block as JSON or bytes, or a payload around which the node builds one. */
export const submitBlockRoute = route({
  method: 'POST',
  path: '/api/core/v3/blocks',
  about: 'Accepts a block, or a payload around which the node builds and signs one.',
  token: 'read',
  cost: submissionCost,
  body: {
    'application/json': { anyOf: [Block, TaggedData, SignedTransaction].map(shapeOf) },
    [binaryType]: { description: 'A serialized block of at most 32768 bytes.' },
  },
  answers: { 201: { ...created, headers: { location: 'the id of the block, alone' } } },
  errors: [403, 503],
  refusals,
  answer: async (_given, services, request) => {
    const allowed = await checkSubmission(services.submissionPolicy, request.caller)
    if (!allowed.ok) return allowed
    const submission = await readSubmission(request)
    if (!submission.ok) return submission
    const submitted = await submitBlock(services, submission.value, request.quota())
    if (!submitted.ok) return submitted
    const blockId = submitted.value
    const headers = { location: blockId }
    return ok(created.respond(request, { blockId }, { status: 201, headers }))
  },
})

const jsonType = /^application\/json/i

async function readSubmission(request: RestRequest): Promise<Result<Submission, BodyError>> {
  const type = request.headers['content-type'] ?? ''
  const isJson = jsonType.test(type)
  if (!isJson && !binaryTypes.test(type)) {
    const expected = `application/json or ${binaryType}`
    return err({ code: 'CONTENT_TYPE_REFUSED', given: type === '' ? 'none' : type, expected })
  }
  const body = await request.body()
  if (!body.ok) return body
  if (!isJson) return ok({ form: 'bytes', bytes: spelledBytes(body.value) })
  const value = parseJson(body.value)
  return value.ok
    ? ok({ form: isPayload(value.value) ? 'payload' : 'json', json: value.value })
    : value
}

/** The specification calls the binary body a string: a text `0x…` is read as the bytes it spells. */
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
