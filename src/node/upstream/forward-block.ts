import { err, ok, type Result } from '../../lib/result.ts'
import type { BlockId } from '../../protocol/primitives.ts'
import type { CheckedBlock, LedgerUnavailable, RefusedByNode } from '../source.ts'
import type { NodeResponse } from './client.ts'
import { refusalOf, submission } from './node-queries.ts'
import type { UpstreamNodeDeps } from './upstream-node.ts'

/**
 * Forwards a block to the nodes. The first node that accepts or refuses the block decides. A node that is unreachable, busy or
 * inaccessible is skipped. If the block reached such a node anyway, that does no harm, because its id is the same everywhere.
 */
export async function forwardBlock(
  { nodes, log }: Pick<UpstreamNodeDeps, 'nodes' | 'log'>,
  { blockId, bytes }: CheckedBlock,
): Promise<Result<BlockId, RefusedByNode | LedgerUnavailable>> {
  for (const node of nodes.available()) {
    const answer = await node.send(submission(bytes))
    if (!answer.ok) continue
    const { status } = answer.value
    if (status === 201) return ok(blockId)
    const reason = refusalOf(answer.value)
    const isRefused = isRefusal(answer.value)
    // An error of a client is in its response. Any other status concerns the operator.
    const write = isRefused ? log.debug : log.info
    write('block-refused-by-node', { node: node.number, blockId, status, reason })
    if (isRefused) return err({ code: 'REFUSED_BY_NODE', reason })
  }
  return err({ code: 'LEDGER_UNAVAILABLE', reason: 'NODES_AWAY' })
}

/** iota-core responds with 500 to a block that its filters refuse, with the reason in the body (rest.md 1, row 7). */
function isRefusal({ status }: NodeResponse): boolean {
  return status === 400 || status === 500
}
