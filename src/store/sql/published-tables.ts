import type { Hex } from '../../lib/hex.ts'
import { asIs, column, hexOfText, id, int, long, writtenTable } from './columns.ts'

const branch = column<Hex>('text', asIs, hexOfText)
const endOfLog = { id: int, slot: long, commitmentId: id<'CommitmentId'>(), seq: long, branch }
const startOfLog = { prunedSeq: long, prunedBranch: branch }

/** The published tip, and its two parts: where the log ends, and where it begins. */
export const publishedTips = writtenTable('published_tip', { ...endOfLog, ...startOfLog })
export const publishedEnds = writtenTable('published_tip', endOfLog)
export const publishedPruning = writtenTable('published_tip', { id: int, ...startOfLog })
