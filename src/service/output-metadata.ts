import { err, ok, type Result } from '../lib/result.ts'
import type { NotToldByNode } from '../node/source.ts'
import { transactionOf } from '../protocol/ids.ts'
import { noCommitment, type OutputMetadata } from '../protocol/node-answers.ts'
import type { CommitmentId, SlotIndex } from '../protocol/primitives.ts'
import type { StoreReader } from '../store/contract.ts'
import type { Milestone, OutputRow } from '../store/rows.ts'

/** What became of an output, as the node tells it (rest.md 4.1). */

/** What telling needs. */
export interface OutputMetadataDeps {
  readonly store: { readonly read: Pick<StoreReader, 'milestone' | 'latestMilestone'> }
}

/** How an output came and went, as of the newest commitment. */
export async function outputMetadata(
  deps: OutputMetadataDeps,
  { outputId, blockId, bookedSlot, spentSlot, spentBy }: OutputRow,
): Promise<Result<OutputMetadata, NotToldByNode>> {
  if (blockId === undefined) {
    return err({ code: 'NOT_TOLD_BY_NODE', what: `the block of output ${outputId}` })
  }
  if (spentSlot !== undefined && spentBy === undefined) {
    return err({ code: 'NOT_TOLD_BY_NODE', what: `what spent output ${outputId}` })
  }
  const latest = await deps.store.read.latestMilestone()
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

/** All zero while the slot is not committed. */
async function commitmentOf(
  { store }: OutputMetadataDeps,
  slot: SlotIndex,
  latest: Milestone,
): Promise<CommitmentId> {
  const milestone = slot > latest.slot ? undefined : await store.read.milestone(slot)
  return milestone?.commitmentId ?? noCommitment
}
