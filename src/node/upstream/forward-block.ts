import { err, ok, type Result } from '../../lib/result.ts'
import type { BlockId } from '../../protocol/primitives.ts'
import type { CheckedBlock, LedgerUnavailable, RefusedByNode } from '../source.ts'
import type { NodeAnswer } from './client.ts'
import { refusalOf, submission } from './node-queries.ts'
import type { UpstreamNodeDeps } from './upstream-node.ts'

/** Forwards blocks to the nodes. */

/**
 * Forwards a block: the first node that answers decides. A node that is away, busy or closed to us is skipped; a block that
 * reached it all the same does no harm, for it has the same id everywhere.
 */
export async function forwardBlock(
  { nodes, log }: Pick<UpstreamNodeDeps, 'nodes' | 'log'>,
  { blockId, bytes }: CheckedBlock,
): Promise<Result<BlockId, RefusedByNode | LedgerUnavailable>> {
  for (const node of nodes.awake()) {
    const answer = await node.send(submission(bytes))
    if (!answer.ok) continue
    const { status } = answer.value
    if (status === 201) return ok(blockId)
    const reason = refusalOf(answer.value)
    log.info('block-refused-by-node', { node: node.number, blockId, status, reason })
    if (isRefusal(answer.value)) return err({ code: 'REFUSED_BY_NODE', reason })
  }
  return err({ code: 'LEDGER_UNAVAILABLE', reason: 'NODES_AWAY' })
}

/** A node of IOTA answers 500 for a block that its filters refuse, with the reason in the body (rest.md 1, row 7). */
function isRefusal({ status }: NodeAnswer): boolean {
  return status === 400 || status === 500
}
