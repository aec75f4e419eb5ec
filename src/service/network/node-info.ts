import type { Result } from '../../lib/result.ts'
import type { Issuance, LedgerUnavailable } from '../../node/source.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import { slotEndNs } from '../../protocol/slots.ts'
import type { Services } from '../services.ts'

/** Information that a client needs to build a block. */

/** The newest commitment, and the parameters of the network. `health.ts` reports the health. */
export interface NodeInfo {
  readonly parameters: ProtocolParameters
  readonly latestCommitmentId: CommitmentId
  readonly latestFinalizedSlot: SlotIndex
  /** The current slot by the clock. */
  readonly slot: SlotIndex
  /** End of the newest committed slot, in Unix nanoseconds. */
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
    committedTime: slotEndNs(parameters, latestCommittedSlot),
  }
}

/** Returns the parents and the commitment that a block issued now should refer to. */
export function issuance({
  source,
}: Pick<Services, 'source'>): Promise<Result<Issuance, LedgerUnavailable>> {
  return source.issuance()
}
