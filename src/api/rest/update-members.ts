import { about, count, flag } from './form.ts'

/** Members that all REST forms of a ledger update share. */

/** Whether an update spent or created its output. */
export const isSpent = about(
  '`true` if the update spent the output, `false` if it created the output.',
  flag,
)

export const milestoneTimestamp = about('End of the milestone in Unix seconds.', count)
