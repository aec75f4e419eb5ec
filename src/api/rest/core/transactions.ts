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
  type TransactionView,
} from '../../../service/blocks/read-transaction.ts'
import type { Services } from '../../../service/services.ts'
import type { NotFound } from '../../api-errors.ts'
import { pathId } from '../parameters.ts'
import { serialized, serializedBytes } from '../reply.ts'
import { readRoute } from '../route.ts'

/** Transactions, by id (rest.md 4.1). */

const params = { transactionId: pathId(TransactionId) }

/** A transaction, without its unlocks. */
export const transactionRoute = readRoute({
  path: '/api/core/v3/transactions/{transactionId}',
  about:
    'A transaction, without its unlocks; none for that of the genesis, which is known by its outputs alone.',
  params,
  reply: serialized('The transaction.', Transaction),
  errors: [404],
  answer: async ({ transactionId: id }, services) => {
    const found = await findTransaction(services, id)
    if (!found.ok) return found
    const { payload } = found.value
    return payload === undefined
      ? err({ code: 'NOT_FOUND', what: 'content of the genesis transaction', id })
      : ok(payload.transaction)
  },
})

/** The state of a transaction. */
export const transactionMetadataRoute = readRoute({
  path: '/api/core/v3/transactions/{transactionId}/metadata',
  about: 'The state of a transaction, and why it failed if it did.',
  params,
  reply: serialized('Its state.', TransactionMetadata),
  errors: [404],
  answer: async ({ transactionId }, services) => {
    const found = await readTransactionMetadata(services, transactionId)
    if (!found.ok) return found
    return found.value === undefined ? err(unknownTransaction(transactionId)) : ok(found.value)
  },
})

/** The block that a transaction was booked with. */
export const includedBlockRoute = readRoute({
  path: '/api/core/v3/transactions/{transactionId}/included-block',
  about: 'The block that a transaction was booked with; none before it is accepted.',
  params,
  reply: serializedBytes('The block.', Block),
  errors: [404],
  answer: async ({ transactionId }, services) => {
    const found = await findIncludedBlock(services, transactionId)
    return found.ok ? ok({ bytes: found.value.bytes, value: found.value.block }) : found
  },
})

/** The state of that block. */
export const includedBlockMetadataRoute = readRoute({
  path: '/api/core/v3/transactions/{transactionId}/included-block/metadata',
  about: 'The state of the block that a transaction was booked with.',
  params,
  reply: serialized('Its state.', BlockMetadata),
  errors: [404],
  answer: async ({ transactionId }, services) => {
    const found = await findIncludedBlock(services, transactionId)
    return found.ok ? ok(blockMetadata(found.value)) : found
  },
})

async function findTransaction(
  services: Services,
  id: TransactionId,
): Promise<Result<TransactionView, NotFound | ReadBlockError>> {
  const found = await readTransaction(services, id)
  if (!found.ok) return found
  return found.value === undefined ? err(unknownTransaction(id)) : ok(found.value)
}

function unknownTransaction(id: TransactionId): NotFound {
  return { code: 'NOT_FOUND', what: 'transaction', id }
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
  if (!block.ok) return block
  if (block.value !== undefined) return ok(block.value)
  return err({ code: 'NOT_FOUND', what: 'block that includes the transaction', id })
}
