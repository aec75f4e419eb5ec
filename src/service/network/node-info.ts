import type { Result } from '../../lib/result.ts'
import type { Issuance, LedgerUnavailable } from '../../node/source.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import { slotEnd } from '../../protocol/slots.ts'
import type { Services } from '../services.ts'

/** What a client asks before it builds a block. */

/** How far the node has committed, and the rules of its network. `health.ts` says whether it is healthy. */
export interface NodeInfo {
  readonly parameters: ProtocolParameters
  readonly latestCommitmentId: CommitmentId
  readonly latestFinalizedSlot: SlotIndex
  /** The slot of this moment. */
  readonly slot: SlotIndex
  /** Unix time in nanoseconds up to which slots are committed. */
  readonly committedTime: bigint
}

export function nodeInfo({ source }: Pick<Services, 'source'>): NodeInfo {
  const { latestCommitmentId, latestCommittedSlot, slot } = source.status()
  const { parameters } = source.network
  return {
    parameters,
    latestCommitmentId,
    latestFinalizedSlot: latestCommittedSlot,
    slot,
    committedTime: BigInt(slotEnd(parameters, latestCommittedSlot)) * 1_000_000_000n,
  }
}

/** What a block issued now should refer to. */
export function issuance({
  source,
}: Pick<Services, 'source'>): Promise<Result<Issuance, LedgerUnavailable>> {
  return source.issuance()
}
