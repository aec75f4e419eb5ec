/**
 * SQL of the log as readers see it: up to the published tip. The unary plus keeps the planner from choosing an index for this bound,
 * which is a filter that nearly every row passes.
 */

/** SQL of the newest slot that readers see. */
export const publishedSlot = '(SELECT slot FROM published_tip)'

/** SQL of the published rows of the log, or of one of its partitions, under a name. */
export function publishedUpdates(name: string, table = logTable): string {
  return `(SELECT * FROM ${table} WHERE ${isPublished}) AS ${name}`
}

export const logTable = 'ledger_updates'

/** SQL condition that a row of the log is published. */
export const isPublished = '+seq <= (SELECT seq FROM published_tip)'

/** SQL of the committed slots that readers see, under a name. */
export function publishedCommitments(name: string): string {
  return `(SELECT * FROM commitments WHERE +slot <= ${publishedSlot}) AS ${name}`
}

/** SQL of a table as readers see it, under its own name. */
export function publishedTable(name: string): string {
  if (name === logTable) return publishedUpdates(name)
  return name === 'commitments' ? publishedCommitments(name) : name
}
