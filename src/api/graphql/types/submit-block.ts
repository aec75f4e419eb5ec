import { GraphQLError } from 'graphql'
import { assert } from '../../../lib/assert.ts'
import { hexToBytes } from '../../../lib/hex.ts'
import type { BlockId } from '../../../protocol/primitives.ts'
import { readBlock } from '../../../service/blocks/read-block.ts'
import {
  type Submission,
  type SubmitBlockError,
  submitBlock,
} from '../../../service/submit/submit-block.ts'
import { orThrow, toGraphQL } from '../../errors/errors.ts'
import { checkSubmission } from '../../submission-policy.ts'
import { builder } from '../builder.ts'
import { judgementCost, reads } from '../execution/prices.ts'
import { BlockInput, blockInput, PayloadInput, payloadInput } from '../model/model.ts'
import { BlockNode } from './block.ts'

/** The mutation that submits a block: as an input object, as JSON, as bytes, or as a payload around which the node builds a block. */

const SubmitBlockInput = builder.inputType('SubmitBlockInput', {
  description: 'A block in one of four forms.',
  isOneOf: true,
  fields: (t) => ({
    block: t.field({ type: BlockInput, description: 'A block as an input object.' }),
    json: t.field({ type: 'JSON', description: 'A block in the JSON of the protocol.' }),
    bytes: t.field({ type: 'Hex', description: 'A serialized block, at most 32768 bytes.' }),
    payload: t.field({
      type: PayloadInput,
      description:
        'A payload. The node builds and signs a block around it, if it has an account for that.',
    }),
  }),
})

const SubmittedBlock = builder.objectRef<BlockId>('SubmittedBlock').implement({
  description: 'A submitted block. It is durable and visible on every transport.',
  fields: (t) => ({
    blockId: t.field({ type: 'BlockId', description: 'The id of the block.', resolve: (id) => id }),
    block: t.field({
      complexity: reads(1),
      type: BlockNode,
      nullable: true,
      description:
        'The block with its state. Null with an error if an upstream node does not provide it.',
      resolve: async (id, _args, { services }) => {
        const block = orThrow(await readBlock(services, id))
        assert(block !== undefined, 'an acknowledged block can be read')
        return block
      },
    }),
  }),
})

builder.mutationField('submitBlock', (t) =>
  t.field({
    type: SubmittedBlock,
    nullable: true,
    description:
      'Submits a block. It is acknowledged when it is durable and has passed every check that needs no booking. Submitting the same block again returns the same id. Null with an error if it is not acknowledged.',
    complexity: judgementCost,
    args: {
      input: t.arg({
        type: SubmitBlockInput,
        required: true,
        description: 'The block, or the payload of a block, in one of the forms of the input.',
      }),
    },
    resolve: async (_root, { input }, { caller, services, quota }) => {
      orThrow(await checkSubmission(services.submissionPolicy, caller))
      const submitted = await submitBlock(services, submissionOf(input), quota())
      if (!submitted.ok) throw placed(submitted.error, input)
      return submitted.value
    },
  }),
)

type Input = typeof SubmitBlockInput.$inferInput

function submissionOf(input: Input): Submission {
  if (input.bytes) return { form: 'bytes', bytes: hexToBytes(input.bytes) }
  if (input.block)
    return { form: 'json', json: orThrow(asMalformed(blockInput.toJson(input.block))) }
  if (input.payload) {
    return { form: 'payload', json: orThrow(asMalformed(payloadInput.toJson(input.payload))) }
  }
  return { form: 'json', json: input.json }
}

/** Returns the error, with its path in the argument if the refusal has one. */
function placed(error: SubmitBlockError, input: Input): GraphQLError {
  const known = toGraphQL(error)
  if (error.code !== 'BLOCK_MALFORMED') return known
  const place = error.refusal.path
  return new GraphQLError(known.message, {
    extensions: { ...known.extensions, path: `input.${placeIn(input, place)}` },
  })
}

function placeIn(input: Input, place: string): string {
  if (input.block) return join('block', blockInput.toPath(input.block, place))
  if (input.payload) return join('payload', payloadInput.toPath(input.payload, place))
  return join(input.bytes ? 'bytes' : 'json', place)
}

function join(member: string, place: string): string {
  return place === '' ? member : `${member}.${place}`
}

type Folded = ReturnType<typeof blockInput.toJson>

function asMalformed(folded: Folded) {
  if (folded.ok) return folded
  const error = { code: 'BLOCK_MALFORMED', refusal: folded.error } as const
  return { ok: false, error } as const
}
