import type { LogTip } from './rows.ts'
import { branchWithin, logEndWithin } from './sql/log-tip.ts'
import { publishedEnds, publishedPruning, publishedTips } from './sql/published-tables.ts'
import type { RawWriting } from './sql/statements.ts'

/**
 * The published tip, by which every read is bounded. Where all of a transaction is seen at once it is written in the transaction
 * that makes it true; a database that is apart gets it afterwards, in a transaction of its own (docs/decisions/041-published-tip.md).
 */

/** The end of the log after some slots. */
export interface Appended {
  readonly tip: LogTip
  /** Whether readers see it; else it is to be published once the transaction has been committed. */
  readonly isPublished: boolean
}

/** Publishes the first slot of a log. */
export async function publishFirst(writing: RawWriting): Promise<LogTip> {
  const { tx, sql } = writing
  const tip = await logEndWithin(writing)
  await sql.insert(tx, publishedTips, [{ id: 1, ...tip }])
  await sql.notify(tx, { topic: 'LOG_GREW', seq: tip.seq })
  return tip
}

/** Publishes the slots of this transaction, unless the database is apart. The last statement, for it locks a row that others write. */
export async function publishWithin(writing: RawWriting): Promise<Appended> {
  return publish(writing, 'published_tip."isApart" = false')
}

/** Publishes all that is committed, where the database is apart. */
export async function publishApart(writing: RawWriting): Promise<void> {
  const { tx } = writing
  const apart = await tx.$queryRawUnsafe<object[]>(
    'SELECT id FROM published_tip WHERE "isApart" = true',
  )
  if (apart.length > 0) await publish(writing, isApart)
}

/** The shards of the log have not all what was committed last; nothing is published or written until they have. */
export class ShardsIncomplete extends Error {
  constructor(seq: number) {
    super(`not every shard of the log has its rows up to position ${seq}`)
    this.name = 'ShardsIncomplete'
  }
}

const isApart = 'published_tip."isApart" = true'

/** The tip never goes back: a process that was slow may come after the next one. */
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

/** Publishes where the log begins now: with its first row, or behind rows that are hidden. */
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
