import { hexToBytes, isHex } from '../../../lib/hex.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import { Block } from '../../../protocol/block.ts'
import { BlockCreated } from '../../../protocol/node-answers.ts'
import { SignedTransaction, TaggedData } from '../../../protocol/transaction.ts'
import { type Submission, submitBlock } from '../../../service/submit/submit-block.ts'
import type { BodyError } from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import type { GatewayError } from '../../gateway-error.ts'
import { checkSubmission } from '../../submission-policy.ts'
import { parseJson } from '../body.ts'
import { binaryType, binaryTypes } from '../negotiation.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import type { RestRequest, Route } from '../route.ts'
import { answered, answerWith } from './answer.ts'

/** Submitting a block (specification 4.2). */

/** The statuses that the specification knows for a submission, and no other, and what their messages state (specification 7). */
const refusals = {
  statuses: [201, 400, 403, 500, 503],
  // What is said of 403 and 500 states it already.
  titles: { 400: 'invalid data', 503: 'service unavailable' },
}

/** Takes a block as JSON or bytes, or a payload around which the node builds one. */
export const submitBlockRoute: Route = {
  method: 'POST',
  path: '/api/core/v3/blocks',
  about: 'Takes a block, or a payload around which the node builds and signs one.',
  token: 'read',
  body: {
    'application/json': { anyOf: [Block, TaggedData, SignedTransaction].map(shapeOf) },
    [binaryType]: { description: 'A serialized block of at most 32768 bytes.' },
  },
  answers: {
    201: {
      ...answered('The block is kept; the same block again gives the same id.', BlockCreated),
      headers: { location: 'the id of the block, alone' },
    },
  },
  errors: [403, 503],
  refusals,
  answer: async (request, services) => {
    const refuse = (error: GatewayError) => toRest(error, refusals)
    const allowed = await checkSubmission(services.submissionPolicy, request.caller)
    if (!allowed.ok) return refuse(allowed.error)
    const submission = await readSubmission(request)
    if (!submission.ok) return refuse(submission.error)
    const submitted = await submitBlock(services, submission.value)
    if (!submitted.ok) return refuse(submitted.error)
    const blockId = submitted.value
    const created = { status: 201, headers: { location: blockId } }
    return answerWith(request, BlockCreated, { blockId }, created)
  },
}

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
