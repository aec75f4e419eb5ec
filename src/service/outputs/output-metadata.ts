import { ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import { transactionOf } from '../../protocol/ids.ts'
import { noCommitment, type OutputMetadata } from '../../protocol/node-responses.ts'
import type { CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import type { Milestone, OutputRow } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { outputProvenance } from './output-provenance.ts'

/** Metadata of an output, in the form of the node API (rest.md 4.1). */

/** Reads how an output was created and spent, as of the newest commitment. */
export async function outputMetadata(
  deps: Pick<Services, 'store' | 'source'>,
  known: OutputRow,
): Promise<Result<OutputMetadata, NotServedByNode>> {
  const { outputId } = known
  const latest = await deps.store.read.latestMilestone()
  // Read after the commitment, which may have spent the output since the caller read its row.
  const row = (await deps.store.read.output(outputId)) ?? known
  const provenance = await outputProvenance(deps, row)
  if (!provenance.ok) return provenance
  const { bookedSlot, spentSlot } = row
  const { blockId, spentBy } = provenance.value
  const included = {
    slot: bookedSlot,
    transactionId: transactionOf(outputId),
    commitmentId: await commitmentOf(deps, bookedSlot, latest),
  }
  const spent =
    spentSlot === undefined || spentBy === undefined
      ? undefined
      : {
          slot: spentSlot,
          transactionId: spentBy,
          commitmentId: await commitmentOf(deps, spentSlot, latest),
        }
  return ok({ outputId, blockId, included, spent, latestCommitmentId: latest.commitmentId })
}

/** The commitment of a slot; all zeros while the slot is not committed. */
async function commitmentOf(
  { store }: Pick<Services, 'store'>,
  slot: SlotIndex,
  latest: Milestone,
): Promise<CommitmentId> {
  const milestone = slot > latest.slot ? undefined : await store.read.milestone(slot)
  return milestone?.commitmentId ?? noCommitment
}
