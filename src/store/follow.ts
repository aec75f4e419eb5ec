import type { Result } from '../lib/result.ts'
import { book } from './book.ts'
import { commitSlots } from './commit.ts'
import type { FollowedSlot } from './contract.ts'
import { closeSlots } from './inbox.ts'
import type { Appended } from './publish.ts'
import type { RawWriting } from './sql/statements.ts'

/** Slots that the upstream node committed: booked, closed and committed in one go; the caller holds the lease. */

/** Appends them to the log. Their blocks and transactions are not reported with them. */
export async function followSlots(
  writing: RawWriting,
  term: number,
  slots: readonly FollowedSlot[],
): Promise<Result<Appended, never>> {
  await book(writing, term, {
    blocks: [],
    transactions: [],
    created: slots.flatMap(({ created }) => created),
    spent: slots.flatMap(({ spent }) => spent),
  })
  const commits = slots.map(({ commit }) => commit)
  for (const { slot } of commits.slice(-1)) await closeSlots(writing, term, slot)
  return commitSlots(writing, commits)
}
