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
import type { NotFound } from '../../api-errors.ts'
import { pathId } from '../parameters.ts'
import { type Reply, serialized, serializedBytes } from '../reply.ts'
import { readRoute } from '../route.ts'

/** Reading blocks back (rest.md 4). */

/** A block as it was submitted. */
export const blockRoute = blockReading('', {
  about: 'A block as it was submitted.',
  reply: serializedBytes('The block.', Block),
  toAnswer: ({ bytes, block }) => ({ bytes, value: block }),
})

/** The state of a block. */
export const blockMetadataRoute = blockReading('/metadata', {
  about: 'The state of a block.',
  reply: serialized('Its state.', BlockMetadata),
  toAnswer: blockMetadata,
})

/** A block and its state. */
export const blockFullRoute = blockReading('/full', {
  about: 'A block and its state.',
  reply: serialized('Both.', BlockWithMetadata),
  toAnswer: (found) => ({ block: found.block(), metadata: blockMetadata(found) }),
})

function blockReading<T>(
  path: string,
  { toAnswer, ...described }: { about: string; reply: Reply<T>; toAnswer: (found: BlockView) => T },
) {
  return readRoute({
    ...described,
    path: `/api/core/v3/blocks/{blockId}${path}`,
    params: { blockId: pathId(BlockId) },
    errors: [404],
    answer: async ({ blockId }, services) => {
      const found = await findBlock(services, blockId)
      return found.ok ? ok(toAnswer(found.value)) : found
    },
  })
}

async function findBlock(
  services: Services,
  id: BlockId,
): Promise<Result<BlockView, NotFound | ReadBlockError>> {
  const block = await readBlock(services, id)
  if (!block.ok) return block
  return block.value === undefined ? err({ code: 'NOT_FOUND', what: 'block', id }) : ok(block.value)
}
