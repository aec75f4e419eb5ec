import { ok } from '../../../lib/result.ts'
import { Block } from '../../../protocol/block.ts'
import { BlockMetadata, BlockWithMetadata } from '../../../protocol/node-responses.ts'
import { BlockId } from '../../../protocol/primitives.ts'
import { blockMetadata, readBlock } from '../../../service/blocks/read-block.ts'
import { immutable, serialized, serializedBytes } from '../reply.ts'
import { orNotFound, routesOf } from './object-routes.ts'

/** Routes that read blocks (rest.md 4). */

const blockReading = routesOf({
  base: '/api/core/v3/blocks',
  name: 'blockId',
  id: BlockId,
  find: async (services, id: BlockId) => orNotFound(await readBlock(services, id), 'block', id),
})

/** A block as it was submitted. */
export const blockRoute = blockReading('', {
  about: 'Returns a block as it was submitted.',
  reply: immutable(serializedBytes('The block.', Block)),
  toAnswer: ({ bytes, block }) => ok({ bytes, value: block }),
})

export const blockMetadataRoute = blockReading('/metadata', {
  about: 'Returns the state of a block.',
  reply: serialized('The state of the block.', BlockMetadata),
  toAnswer: (found) => ok(blockMetadata(found)),
})

export const blockFullRoute = blockReading('/full', {
  about: 'Returns a block and its state.',
  reply: serialized('The block and its state.', BlockWithMetadata),
  toAnswer: (found) => ok({ block: found.block(), metadata: blockMetadata(found) }),
})
