import { jsonOf } from '../bulk.ts'
import { tipKeys } from '../bulk-tables.ts'
import type { LogStatements, TipRow } from '../statements.ts'
import { dialect } from './dialect.ts'

/** Statements on the newest rows of the log on SQLite. */
export const logStatements: LogStatements = {
  tips: (tx, keys) => tx.$queryRawUnsafe<TipRow[]>(tipsText, jsonOf(dialect, tipKeys, keys)),
}

/** SQL of the newest row of each address and class in a list, or of its pruned tip. */
export const tipsText = `
  WITH asked AS MATERIALIZED (SELECT * FROM ${dialect.given(tipKeys.columns)})
  SELECT newest.address, newest.class, newest.ordinal, newest."historyHash", newest."milestoneIndex"
  FROM asked CROSS JOIN ledger_updates AS newest ON newest.address = asked.address AND newest.class = asked.class
    AND newest.seq = (SELECT own.seq FROM ledger_updates AS own
      WHERE own.address = asked.address AND own.class = asked.class
      ORDER BY own.seq DESC LIMIT 1)
  UNION ALL
  SELECT pruned.address, pruned.class, pruned.ordinal, pruned."historyHash",
    pruned."milestoneIndex"
  FROM asked CROSS JOIN pruned_tips AS pruned
    ON pruned.address = asked.address AND pruned.class = asked.class
  WHERE NOT EXISTS (SELECT 1 FROM ledger_updates AS own
    WHERE own.address = asked.address AND own.class = asked.class)`
