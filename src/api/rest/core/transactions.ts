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
import type { NotFound, PathIdMalformed } from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import type { RestRequest, Route } from '../route.ts'
import { answered, answerWith, answerWithBytes } from './answer.ts'
import { pathId } from './ids.ts'

/** Transactions, by id (rest.md 4.1). */

const params = { transactionId: shapeOf(TransactionId) }

/** A transaction, without its unlocks. */
export const transactionRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/transactions/{transactionId}',
  about:
    'A transaction, without its unlocks; none for that of the genesis, which is known by its outputs alone.',
  params,
  answers: { 200: answered('The transaction.', Transaction) },
  errors: [404],
  answer: async (request, services) => {
    const found = await findTransaction(request, services)
    if (!found.ok) return toRest(found.error)
    const { payload, transactionId: id } = found.value
    if (payload === undefined) {
      return toRest({ code: 'NOT_FOUND', what: 'content of the genesis transaction', id })
    }
    return answerWith(request, Transaction, payload.transaction)
  },
}

/** Where a transaction stands. */
export const transactionMetadataRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/transactions/{transactionId}/metadata',
  about: 'Where a transaction stands, and why it failed if it did.',
  params,
  answers: { 200: answered('Its state.', TransactionMetadata) },
  errors: [404],
  answer: async (request, services) => {
    const id = pathId(request, 'transactionId', TransactionId)
    if (!id.ok) return toRest(id.error)
    const found = await readTransactionMetadata(services, id.value)
    if (!found.ok) return toRest(found.error)
    if (found.value === undefined) return toRest(unknownTransaction(id.value))
    return answerWith(request, TransactionMetadata, found.value)
  },
}

/** The block that a transaction was booked with. */
export const includedBlockRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/transactions/{transactionId}/included-block',
  about: 'The block that a transaction was booked with; none before it is accepted.',
  params,
  answers: { 200: answered('The block.', Block) },
  errors: [404],
  answer: async (request, services) => {
    const found = await findIncludedBlock(request, services)
    if (!found.ok) return toRest(found.error)
    const { bytes, block } = found.value
    return answerWithBytes(request, Block, { bytes, value: block })
  },
}

/** Where that block stands. */
export const includedBlockMetadataRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/transactions/{transactionId}/included-block/metadata',
  about: 'Where the block stands that a transaction was booked with.',
  params,
  answers: { 200: answered('Its state.', BlockMetadata) },
  errors: [404],
  answer: async (request, services) => {
    const found = await findIncludedBlock(request, services)
    if (!found.ok) return toRest(found.error)
    return answerWith(request, BlockMetadata, blockMetadata(found.value))
  },
}

async function findTransaction(
  request: RestRequest,
  services: Services,
): Promise<Result<TransactionView, PathIdMalformed | NotFound | ReadBlockError>> {
  const id = pathId(request, 'transactionId', TransactionId)
  if (!id.ok) return id
  const found = await readTransaction(services, id.value)
  if (!found.ok) return found
  return found.value === undefined ? err(unknownTransaction(id.value)) : ok(found.value)
}

function unknownTransaction(id: TransactionId): NotFound {
  return { code: 'NOT_FOUND', what: 'transaction', id }
}

async function findIncludedBlock(
  request: RestRequest,
  services: Services,
): Promise<Result<BlockView, PathIdMalformed | NotFound | ReadBlockError>> {
  const found = await findTransaction(request, services)
  if (!found.ok) return found
  const { state, blockId, transactionId } = found.value
  const isIncluded = state !== 'PENDING' && state !== 'FAILED'
  const block =
    isIncluded && blockId !== undefined ? await readBlock(services, blockId) : ok(undefined)
  if (!block.ok) return block
  if (block.value !== undefined) return ok(block.value)
  return err({ code: 'NOT_FOUND', what: 'block that includes the transaction', id: transactionId })
}
