import { jsonOf } from '../bulk.ts'
import { tipKeys } from '../bulk-tables.ts'
import type { LogStatements, TipRow } from '../statements.ts'
import { dialect } from './dialect.ts'

/** Statements on the newest rows of the log on PostgreSQL. */
export const logStatements: LogStatements = {
  tips: (tx, keys) => tx.$queryRawUnsafe<TipRow[]>(tips, jsonOf(dialect, tipKeys, keys)),
}

const tips = `
  SELECT given.address, given.class, tip.ordinal, tip."historyHash", tip."milestoneIndex"
  FROM ${dialect.given(tipKeys.columns)}
  CROSS JOIN LATERAL (
    SELECT ordinal, "historyHash", "milestoneIndex" FROM (
      (SELECT ordinal, "historyHash", "milestoneIndex" FROM ledger_updates AS own
        WHERE own.address = given.address AND own.class = given.class
        ORDER BY own.seq DESC LIMIT 1)
      UNION ALL
      (SELECT ordinal, "historyHash", "milestoneIndex" FROM pruned_tips AS pruned
        WHERE pruned.address = given.address AND pruned.class = given.class)
    ) AS kept ORDER BY ordinal DESC LIMIT 1) AS tip`
