import { assert, present } from '../lib/assert.ts'
import { Block, signedTransactionOf } from './block.ts'
import { identifyTransaction, type TransactionIdentity } from './ids.ts'
import { decode, type Schema } from './schema/schema.ts'

/** Decodes bytes of the database, which were checked before they were stored. */
export function decodeStored<T>(
  schema: Schema<T> & { readonly name: string },
  bytes: Uint8Array,
): T {
  const decoded = decode(schema, bytes)
  assert(decoded.ok, `a stored ${schema.name} decodes`)
  return decoded.value
}

/** The transaction that a stored block carries: its ids, and the bytes of its outputs. */
export function carriedTransaction(block: Uint8Array): TransactionIdentity {
  const payload = present(signedTransactionOf(decodeStored(Block, block)), 'a carried transaction')
  return identifyTransaction(payload.transaction)
}
