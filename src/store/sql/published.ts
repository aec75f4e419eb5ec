/**
 * What readers see of the log: what lies up to the published tip. The plus keeps the bound out of the choice of an index, for it
 * is a filter that nearly every row passes.
 */

/** The newest slot that readers see. */
export const publishedSlot = '(SELECT slot FROM published_tip)'

/** The rows of the log that readers see, under a name; or those of a partition of it. */
export function publishedUpdates(name: string, table = logTable): string {
  return `(SELECT * FROM ${table} WHERE ${isPublished}) AS ${name}`
}

/** The table of the log. */
export const logTable = 'ledger_updates'

/** By which a row of the log is published. */
export const isPublished = '+seq <= (SELECT seq FROM published_tip)'

/** The committed slots that readers see, under a name. */
export function publishedCommitments(name: string): string {
  return `(SELECT * FROM commitments WHERE +slot <= ${publishedSlot}) AS ${name}`
}

/** The table of a name as readers see it, under its name. */
export function publishedTable(name: string): string {
  if (name === 'ledger_updates') return publishedUpdates(name)
  return name === 'commitments' ? publishedCommitments(name) : name
}
