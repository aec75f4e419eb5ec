import { err, ok, type Result } from '../../lib/result.ts'
import type { SignatureCheckBusy } from '../../node/signatures.ts'
import { BasicBlockBody, Block } from '../../protocol/block.ts'
import { identifyBlock } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import { inNodeOrder, isOrderOpen } from '../../protocol/metadata-order.ts'
import { encode } from '../../protocol/schema/schema.ts'
import { slotOfTime } from '../../protocol/slots.ts'
import { SignedTransaction } from '../../protocol/transaction.ts'
import type { Services } from '../services.ts'

/** The order of the metadata of a block in JSON, which has two possible orders: the order that the issuer has signed. */

/**
 * Returns the block in the order of the node if it was signed in that order; otherwise unchanged, in the order of the official
 * SDK. Signatures are checked only if the orders differ.
 */
export async function signedReading(
  { signatures, parameters }: Pick<Services, 'signatures' | 'parameters'>,
  block: Block,
): Promise<Result<Block, SignatureCheckBusy>> {
  const ordered = blockInNodeOrder(block)
  if (ordered === undefined) return ok(block)
  const slot = slotOfTime(parameters, block.header.issuingTime)
  for (const reading of [block, ordered]) {
    const { signingInput: message } = identifyBlock(encode(Block, reading), slot)
    const verdict = await signatures.check([{ ...block.signature, message }])
    if (!verdict.ok) return err(verdict.error)
    if (verdict.value[0] === true) return ok(reading)
  }
  return ok(block)
}

/** The block with its metadata in the order of the node; `undefined` if that is not another order. */
function blockInNodeOrder(block: Block): Block | undefined {
  const { body } = block
  if (!is(BasicBlockBody, body) || !is(SignedTransaction, body.payload)) return undefined
  const { payload } = body
  const { outputs } = payload.transaction
  if (!outputs.some(isOrderOpen)) return undefined
  const transaction = { ...payload.transaction, outputs: outputs.map(inNodeOrder) }
  return { ...block, body: { ...body, payload: { ...payload, transaction } } }
}
