import type { Result } from '../../lib/result.ts'
import type { FollowedSlot } from '../contract.ts'
import type { RawWriting } from '../sql/statements.ts'
import { book } from './book.ts'
import { allowIdlingFor, commitSlots } from './commit.ts'
import { closeSlots } from './inbox.ts'
import type { Appended } from './publish.ts'

/** Books, closes and commits slots that the upstream node committed, in one transaction. The caller holds the lease. */

/** Appends the slots to the log. The node does not report their blocks and transactions with them. */
export async function followSlots(
  writing: RawWriting,
  term: number,
  slots: readonly FollowedSlot[],
): Promise<Result<Appended, never>> {
  const commits = slots.map(({ commit }) => commit)
  await allowIdlingFor(writing, commits)
  await book(writing, term, {
    blocks: [],
    transactions: [],
    created: slots.flatMap(({ created }) => created),
    spent: slots.flatMap(({ spent }) => spent),
  })
  for (const { slot } of commits.slice(-1)) await closeSlots(writing, slot)
  return commitSlots(writing, commits)
}
