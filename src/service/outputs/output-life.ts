import { err, ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'

/** Which block an output came with, and what spent it. In upstream mode the log does not always have them. */

/** Why an output that exists cannot be answered in full. */
export type OutputNotServed = NotServedByNode

/** What an output came with, and what it went with. */
export interface OutputLife {
  readonly blockId: BlockId
  /** `undefined` while it is unspent. */
  readonly spentBy: TransactionId | undefined
}

/** Reads both; the upstream node answers what the row lacks. */
export async function outputLife(
  { source }: Pick<Services, 'source'>,
  { outputId, ...row }: OutputRow,
): Promise<Result<OutputLife, OutputNotServed>> {
  const isSpent = row.spentSlot !== undefined
  const isKept = row.blockId !== undefined && (!isSpent || row.spentBy !== undefined)
  const answered = isKept ? undefined : await source.node?.outputMetadata(outputId)
  const blockId = row.blockId ?? answered?.blockId
  const spentBy = row.spentBy ?? answered?.spent?.transactionId
  if (blockId === undefined || (isSpent && spentBy === undefined)) {
    return err({ code: 'NOT_TOLD_BY_NODE', what: `the life of output ${outputId}` })
  }
  return ok({ blockId, spentBy: isSpent ? spentBy : undefined })
}
