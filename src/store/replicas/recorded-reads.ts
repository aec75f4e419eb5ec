import { afterCall } from '../../lib/after-call.ts'
import type { StoreReader } from '../contract.ts'
import type { Milestone } from '../rows.ts'
import type { Moves } from './moves.ts'

/** Reads that show where the log ends. */
type ReadsOfEnds = Pick<
  StoreReader,
  | 'logTip'
  | 'addressPage'
  | 'latestMilestone'
  | 'milestone'
  | 'milestoneByCommitment'
  | 'milestonesAt'
  | 'milestonesByCommitments'
  | 'milestonesAfter'
  | 'milestones'
>

/** Wraps the reads that show where the log ends so that they record it. Reads then never move to a server that lacks it. */
export function recordedReads(
  read: StoreReader,
  { recordTip, recordMilestone }: Pick<Moves, 'recordTip' | 'recordMilestone'>,
): ReadsOfEnds {
  const one = (found: Milestone | undefined) => found && recordMilestone(found)
  const each = (found: readonly Milestone[]) => found.forEach(recordMilestone)

  return {
    logTip: afterCall(read.logTip, recordTip),
    addressPage: afterCall(read.addressPage, ({ tip }) => recordTip(tip)),
    latestMilestone: afterCall(read.latestMilestone, recordMilestone),
    milestone: afterCall(read.milestone, one),
    milestoneByCommitment: afterCall(read.milestoneByCommitment, one),
    milestonesAt: afterCall(read.milestonesAt, each),
    milestonesByCommitments: afterCall(read.milestonesByCommitments, each),
    milestonesAfter: afterCall(read.milestonesAfter, each),
    milestones: afterCall(read.milestones, each),
  }
}
