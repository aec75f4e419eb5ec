import type { LogTip } from '../rows.ts'
import { branchWithin, logEndWithin } from '../sql/log-tip.ts'
import { publishedEnds, publishedPruning, publishedTips } from '../sql/published-tables.ts'
import type { RawWriting } from '../sql/statements.ts'

/**
 * The published tip, which bounds every read. If readers see all changes of a transaction at once, the transaction itself publishes its
 * tip. An apart database spreads a transaction over several servers, so readers may see a part of it first. There, a later transaction
 * publishes the tip (docs/decisions/041-published-tip.md).
 */

/** The end of the log after a commit. */
export interface Appended {
  readonly tip: LogTip
  /** Whether the transaction publishes the tip. If not, another transaction publishes it after the commit. */
  readonly isPublished: boolean
}

export async function publishFirst(writing: RawWriting): Promise<LogTip> {
  const { tx, sql } = writing
  const tip = await logEndWithin(writing)
  await sql.insert(tx, publishedTips, [{ id: 1, ...tip }])
  await sql.notify(tx, { topic: 'LOG_GREW', seq: tip.seq })
  return tip
}

/** Publishes the slots of this transaction, unless the database is apart. Call it last, because it locks a row that others write. */
export async function publishWithin(writing: RawWriting): Promise<Appended> {
  return publish(writing, 'published_tip."isApart" = false')
}

/** Publishes all committed slots of an apart database. */
export async function publishApart(writing: RawWriting): Promise<void> {
  const { tx } = writing
  const apart = await tx.$queryRawUnsafe<object[]>(
    'SELECT id FROM published_tip WHERE "isApart" = true',
  )
  if (apart.length > 0) await publish(writing, isApart)
}

/** Some shards of the log lack rows of the last commit. Nothing is published or written until all shards have them. */
export class ShardsIncomplete extends Error {
  constructor(seq: number) {
    super(`not every shard of the log has its rows up to position ${seq}`)
    this.name = 'ShardsIncomplete'
  }
}

const isApart = 'published_tip."isApart" = true'

/** Publishes the tip if it is not older than the published one: a slow process may publish after its successor. */
async function publish(writing: RawWriting, condition: string): Promise<Appended> {
  const { tx, sql } = writing
  const tip = await logEndWithin(writing)
  if (condition === isApart && sql.shards?.isOn() === true) {
    if (!(await sql.shards.areMarked(tx, tip.seq))) throw new ShardsIncomplete(tip.seq)
  }
  const where = `${condition} AND published_tip.slot <= given.slot`
  const changed = await sql.update(tx, publishedEnds, [{ id: 1, ...tip }], { where })
  if (changed > 0) await sql.notify(tx, { topic: 'LOG_GREW', seq: tip.seq })
  return { tip, isPublished: changed > 0 }
}

/** Publishes the new beginning of the log: its first row, or the position after the hidden rows. */
export async function publishPruned(writing: RawWriting, hiddenUpTo?: number): Promise<void> {
  const { tx, sql } = writing
  const { prunedSeq, prunedBranch } =
    hiddenUpTo === undefined
      ? await logEndWithin(writing)
      : { prunedSeq: hiddenUpTo, prunedBranch: await branchWithin(writing, hiddenUpTo) }
  await sql.update(tx, publishedPruning, [{ id: 1, prunedSeq, prunedBranch }], {
    where: 'published_tip."prunedSeq" < given."prunedSeq"',
  })
}
