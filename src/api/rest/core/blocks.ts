import { err, ok, type Result } from '../../../lib/result.ts'
import { Block } from '../../../protocol/block.ts'
import { BlockMetadata, BlockWithMetadata } from '../../../protocol/node-answers.ts'
import { BlockId } from '../../../protocol/primitives.ts'
import {
  type BlockView,
  blockMetadata,
  type ReadBlockError,
  readBlock,
} from '../../../service/blocks/read-block.ts'
import type { Services } from '../../../service/services.ts'
import type { NotFound, PathIdMalformed } from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import type { RestRequest, Route } from '../route.ts'
import { answered, answerWith, answerWithBytes } from './answer.ts'
import { pathId } from './ids.ts'

/** Reading blocks back (rest.md 4). */

const params = { blockId: shapeOf(BlockId) }

/** A block as it was submitted. */
export const blockRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/blocks/{blockId}',
  about: 'A block, as it came.',
  params,
  answers: { 200: answered('The block.', Block) },
  errors: [404],
  answer: async (request, services) => {
    const found = await findBlock(request, services)
    if (!found.ok) return toRest(found.error)
    const { bytes, block } = found.value
    return answerWithBytes(request, Block, { bytes, value: block })
  },
}

/** Where a block stands. */
export const blockMetadataRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/blocks/{blockId}/metadata',
  about: 'Where a block stands.',
  params,
  answers: { 200: answered('Its state.', BlockMetadata) },
  errors: [404],
  answer: async (request, services) => {
    const found = await findBlock(request, services)
    if (!found.ok) return toRest(found.error)
    return answerWith(request, BlockMetadata, blockMetadata(found.value))
  },
}

/** A block and where it stands. */
export const blockFullRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/blocks/{blockId}/full',
  about: 'A block and where it stands.',
  params,
  answers: { 200: answered('Both.', BlockWithMetadata) },
  errors: [404],
  answer: async (request, services) => {
    const found = await findBlock(request, services)
    if (!found.ok) return toRest(found.error)
    const full = { block: found.value.block(), metadata: blockMetadata(found.value) }
    return answerWith(request, BlockWithMetadata, full)
  },
}

async function findBlock(
  request: RestRequest,
  services: Services,
): Promise<Result<BlockView, PathIdMalformed | NotFound | ReadBlockError>> {
  const id = pathId(request, 'blockId', BlockId)
  if (!id.ok) return id
  const block = await readBlock(services, id.value)
  if (!block.ok) return block
  if (block.value !== undefined) return ok(block.value)
  return err({ code: 'NOT_FOUND', what: 'block', id: id.value })
}
