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
  function recording<A extends readonly unknown[], T>(
    call: (...args: A) => Promise<T>,
    record: (found: T) => void,
  ) {
    return async (...args: A): Promise<T> => {
      const found = await call(...args)
      record(found)
      return found
    }
  }
  const one = (found: Milestone | undefined) => found && recordMilestone(found)
  const each = (found: readonly Milestone[]) => found.forEach(recordMilestone)

  return {
    logTip: recording(read.logTip, recordTip),
    addressPage: recording(read.addressPage, ({ tip }) => recordTip(tip)),
    latestMilestone: recording(read.latestMilestone, recordMilestone),
    milestone: recording(read.milestone, one),
    milestoneByCommitment: recording(read.milestoneByCommitment, one),
    milestonesAt: recording(read.milestonesAt, each),
    milestonesByCommitments: recording(read.milestonesByCommitments, each),
    milestonesAfter: recording(read.milestonesAfter, each),
    milestones: recording(read.milestones, each),
  }
}
