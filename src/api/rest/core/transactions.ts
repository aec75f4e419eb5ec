import { err, ok, type Result } from '../../../lib/result.ts'
import { Block } from '../../../protocol/block.ts'
import { BlockMetadata, TransactionMetadata } from '../../../protocol/node-answers.ts'
import { TransactionId } from '../../../protocol/primitives.ts'
import { Transaction } from '../../../protocol/transaction.ts'
import {
  type BlockView,
  blockMetadata,
  type ReadBlockError,
  readBlock,
} from '../../../service/blocks/read-block.ts'
import {
  readTransaction,
  readTransactionMetadata,
} from '../../../service/blocks/read-transaction.ts'
import type { Services } from '../../../service/services.ts'
import type { NotFound } from '../../api-errors.ts'
import { serialized, serializedBytes } from '../reply.ts'
import { orNotFound, routesOf } from './found-route.ts'

/** Transactions, by id (rest.md 4.1). */

const named = {
  base: '/api/core/v3/transactions',
  name: 'transactionId',
  id: TransactionId,
} as const

const transactionReading = routesOf({ ...named, find: findTransaction })

const metadataReading = routesOf({
  ...named,
  find: async (services, id: TransactionId) =>
    orNotFound(await readTransactionMetadata(services, id), 'transaction', id),
})

const includedBlockReading = routesOf({ ...named, find: findIncludedBlock })

/** A transaction, without its unlocks. */
export const transactionRoute = transactionReading('', {
  about:
    'A transaction, without its unlocks; none for that of the genesis, which is known by its outputs alone.',
  reply: serialized('The transaction.', Transaction),
  toAnswer: ({ payload, transactionId: id }) =>
    payload === undefined
      ? err({ code: 'NOT_FOUND', what: 'content of the genesis transaction', id })
      : ok(payload.transaction),
})

/** The state of a transaction. */
export const transactionMetadataRoute = metadataReading('/metadata', {
  about: 'The state of a transaction, and why it failed if it did.',
  reply: serialized('Its state.', TransactionMetadata),
  toAnswer: (metadata) => ok(metadata),
})

/** The block that a transaction was booked with. */
export const includedBlockRoute = includedBlockReading('/included-block', {
  about: 'The block that a transaction was booked with; none before it is accepted.',
  reply: serializedBytes('The block.', Block),
  toAnswer: ({ bytes, block }) => ok({ bytes, value: block }),
})

/** The state of that block. */
export const includedBlockMetadataRoute = includedBlockReading('/included-block/metadata', {
  about: 'The state of the block that a transaction was booked with.',
  reply: serialized('Its state.', BlockMetadata),
  toAnswer: (found) => ok(blockMetadata(found)),
})

async function findTransaction(services: Services, id: TransactionId) {
  return orNotFound(await readTransaction(services, id), 'transaction', id)
}

async function findIncludedBlock(
  services: Services,
  id: TransactionId,
): Promise<Result<BlockView, NotFound | ReadBlockError>> {
  const found = await findTransaction(services, id)
  if (!found.ok) return found
  const { state, blockId } = found.value
  const isIncluded = state !== 'PENDING' && state !== 'FAILED'
  const block =
    isIncluded && blockId !== undefined ? await readBlock(services, blockId) : ok(undefined)
  return orNotFound(block, 'block that includes the transaction', id)
}
