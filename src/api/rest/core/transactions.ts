import { err, ok, type Result } from '../../../lib/result.ts'
import { Block } from '../../../protocol/block.ts'
import { BlockMetadata, TransactionMetadata } from '../../../protocol/node-responses.ts'
import { TransactionId } from '../../../protocol/primitives.ts'
import { Transaction } from '../../../protocol/transaction.ts'
import {
  type BlockView,
  blockMetadata,
  type NotServedByNode,
  readBlock,
} from '../../../service/blocks/read-block.ts'
import {
  readTransaction,
  readTransactionMetadata,
} from '../../../service/blocks/read-transaction.ts'
import type { Services } from '../../../service/services.ts'
import type { NotFound } from '../../errors/api-errors.ts'
import { serialized, serializedBytes } from '../reply.ts'
import { orNotFound, routesOf } from './object-routes.ts'

/** Routes that read transactions by id (rest.md 4.1). */

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

/** A transaction without its unlocks. */
export const transactionRoute = transactionReading('', {
  about:
    'Returns a transaction without its unlocks. The genesis transaction is not available, because only its outputs are known.',
  reply: serialized('The transaction.', Transaction),
  toAnswer: ({ payload, transactionId: id }) =>
    payload === undefined
      ? err({ code: 'NOT_FOUND', what: 'content of the genesis transaction', id })
      : ok(payload.transaction),
})

export const transactionMetadataRoute = metadataReading('/metadata', {
  about: 'Returns the state of a transaction, and the reason if it failed.',
  reply: serialized('The state of the transaction.', TransactionMetadata),
  toAnswer: (metadata) => ok(metadata),
})

export const includedBlockRoute = includedBlockReading('/included-block', {
  about: 'Returns the block that includes a transaction; 404 until the transaction is accepted.',
  reply: serializedBytes('The block.', Block),
  toAnswer: ({ bytes, block }) => ok({ bytes, value: block }),
})

export const includedBlockMetadataRoute = includedBlockReading('/included-block/metadata', {
  about:
    'Returns the state of the block that includes a transaction; 404 until the transaction is accepted.',
  reply: serialized('The state of the block.', BlockMetadata),
  toAnswer: (found) => ok(blockMetadata(found)),
})

async function findTransaction(services: Services, id: TransactionId) {
  return orNotFound(await readTransaction(services, id), 'transaction', id)
}

async function findIncludedBlock(
  services: Services,
  id: TransactionId,
): Promise<Result<BlockView, NotFound | NotServedByNode>> {
  // A node serves the state of a transaction that it has not included, but nothing else.
  const metadata = orNotFound(await readTransactionMetadata(services, id), 'transaction', id)
  if (!metadata.ok) return metadata
  const { transactionState } = metadata.value
  const isIncluded = transactionState !== 'pending' && transactionState !== 'failed'
  const found = isIncluded ? await readTransaction(services, id) : ok(undefined)
  if (!found.ok) return found
  const blockId = found.value?.blockId
  const block = blockId === undefined ? ok(undefined) : await readBlock(services, blockId)
  return orNotFound(block, 'block that includes the transaction', id)
}
