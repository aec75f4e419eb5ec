import type { Hex } from '../../lib/hex.ts'
import { asIs, column, hexOfText, id, int, long, writtenTable } from './columns.ts'

const branch = column<Hex>('text', asIs, hexOfText)
const endOfLog = { id: int, slot: long, commitmentId: id<'CommitmentId'>(), seq: long, branch }
const startOfLog = { prunedSeq: long, prunedBranch: branch }

/** The published tip: where the log ends and begins for readers. */
export const publishedTips = writtenTable('published_tip', { ...endOfLog, ...startOfLog })
/** The part of the published tip that says where the log ends. */
export const publishedEnds = writtenTable('published_tip', endOfLog)
/** The part of the published tip that says where the log begins. */
export const publishedPruning = writtenTable('published_tip', { id: int, ...startOfLog })
