import { oldestParentSlot } from '../../ledger/admission.ts'
import { genesisBlockId } from '../../ledger/genesis.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import { slotEndNs } from '../../protocol/slots.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { NodeCore } from '../node-core.ts'
import type { Issuance } from '../source.ts'

/** Selects the parents and the commitment for a block issued now, from the newest blocks and commitments of the ledger. */
export async function issuanceNow(
  read: Pick<StoreReader, 'recentBlocks'>,
  parameters: ProtocolParameters,
  { commitments, slot }: Pick<NodeCore, 'commitments' | 'slot'>,
): Promise<Issuance> {
  const blocks = await read.recentBlocks(parentsOffered)
  const newest = commitments.newest().commitment
  // One slot of slack: the clock of a client may be behind the clock of this machine.
  const { commitment } = commitments.upTo(slot() - parameters.minCommittableAge - 1)
  const oldest = oldestParentSlot(parameters, newest.slot, blocks[0]?.slot ?? 0)
  const young = blocks.filter((block) => block.slot >= oldest)
  const parents = young.map(({ blockId }) => blockId).sort()
  return {
    strongParents: parents.length > 0 ? parents : [genesisBlockId(parameters)],
    latestParentBlockIssuingTime: blocks[0]?.issuingTime ?? slotEndNs(parameters, newest.slot),
    latestFinalizedSlot: newest.slot,
    latestCommitment: commitment,
  }
}

/** Maximum number of parents offered to clients. */
const parentsOffered = 4
