import { hexToBytes, isHex } from '../../../lib/hex.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import { Block, isPayloadAlone } from '../../../protocol/block.ts'
import { BlockCreated, binaryType } from '../../../protocol/node-responses.ts'
import { SignedTransaction, TaggedData } from '../../../protocol/transaction.ts'
import { type Submission, submitBlock } from '../../../service/submit/submit-block.ts'
import type { BodyError } from '../../errors/api-errors.ts'
import { submissionCost } from '../../graphql/execution/prices.ts'
import { checkSubmission } from '../../submission-policy.ts'
import { parseJson } from '../body.ts'
import { binaryTypes } from '../negotiation.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { serialized } from '../reply.ts'
import type { RestRequest } from '../request.ts'
import { route } from '../route.ts'

/** The route that submits blocks (specification 4.2). */

/** The statuses that the specification allows for a submission, and 429 for quotas. The titles are required texts (specification 7). */
const refusals = {
  statuses: [201, 400, 403, 429, 500, 503],
  // The messages of 403 and 500 already contain the required texts.
  titles: { 400: 'invalid data', 503: 'service unavailable' },
}

const created = serialized(
  'The block is stored. Submitting the same block again returns the same id.',
  BlockCreated,
)

/** Accepts a block as JSON or bytes, or a payload for which the node builds a block. */
export const submitBlockRoute = route({
  method: 'POST',
  path: '/api/core/v3/blocks',
  about: 'Submits a block, or a payload for which the node builds and signs a block.',
  token: 'read',
  cost: submissionCost,
  body: {
    'application/json': { anyOf: [Block, TaggedData, SignedTransaction].map(shapeOf) },
    [binaryType]: { description: 'A serialized block of at most 32768 bytes.' },
  },
  answers: { 201: { ...created, headers: { location: 'The id of the block, without a path.' } } },
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
    ? ok({ form: isPayloadAlone(value.value) ? 'payload' : 'json', json: value.value })
    : value
}

/** Decodes a body of hexadecimal text. The specification calls the binary body a string, so a text `0x…` is accepted as bytes. */
function spelledBytes(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString('latin1').trim()
  return text.startsWith('0x') && isHex(text)
    ? hexToBytes(text.toLowerCase() as `0x${string}`)
    : body
}
