import { err, ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'

/** The block that created an output, and the transaction that spent it. In upstream mode the log does not always have them. */

/** The block that created an output, and the transaction that spent it. */
export interface OutputProvenance {
  readonly blockId: BlockId
  /** `undefined` while the output is unspent. */
  readonly spentBy: TransactionId | undefined
}

/** Reads the block and the spending transaction of an output, from the upstream node if the row does not have them. */
export async function outputProvenance(
  { source }: Pick<Services, 'source'>,
  { outputId, ...row }: OutputRow,
): Promise<Result<OutputProvenance, NotServedByNode>> {
  const isSpent = row.spentSlot !== undefined
  const isKept = row.blockId !== undefined && (!isSpent || row.spentBy !== undefined)
  const answered = isKept ? undefined : await source.node?.outputMetadata(outputId)
  if (answered?.ok === false) return answered
  const blockId = row.blockId ?? answered?.value.blockId
  const spentBy = row.spentBy ?? answered?.value.spent?.transactionId
  if (blockId === undefined || (isSpent && spentBy === undefined)) {
    return err({ code: 'NOT_TOLD_BY_NODE', what: `the spending of output ${outputId}` })
  }
  return ok({ blockId, spentBy: isSpent ? spentBy : undefined })
}
