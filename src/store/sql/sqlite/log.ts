import { classToNumber, digits, digitsOf, rolesToMask } from '../../values.ts'
import type { LogStatements, TipRow } from '../statements.ts'

/** The bulk statements of a slot's commit on SQLite. */
export const logStatements: LogStatements = {
  tips(tx, keys) {
    const rows = keys.map((key) => [digits(key.address), classToNumber(key.class)])
    return tx.$queryRaw<TipRow[]>`
      WITH asked AS MATERIALIZED (
        SELECT unhex(value ->> 0) AS address, value ->> 1 AS class
        FROM json_each(${JSON.stringify(rows)}))
      SELECT newest.address, newest.class, newest.ordinal, newest."historyHash"
      FROM asked CROSS JOIN ledger_updates AS newest ON newest.rowid = (
        SELECT own.rowid FROM ledger_updates AS own
        WHERE own.address = asked.address AND own.class = asked.class
        ORDER BY own.seq DESC LIMIT 1)
      UNION ALL
      SELECT pruned.address, pruned.class, pruned.ordinal, pruned."historyHash"
      FROM asked CROSS JOIN pruned_tips AS pruned
        ON pruned.address = asked.address AND pruned.class = asked.class
      WHERE NOT EXISTS (SELECT 1 FROM ledger_updates AS own
        WHERE own.address = asked.address AND own.class = asked.class)`
  },

  async insertUpdates(tx, updates) {
    const rows = updates.map((update) => [
      update.seq,
      digits(update.address),
      classToNumber(update.class),
      update.ordinal,
      rolesToMask(update.roles),
      update.milestoneIndex,
      digits(update.outputId),
      update.isSpent ? 1 : 0,
      digits(update.historyHash),
      update.balance?.toString() ?? null,
    ])
    await tx.$executeRaw`
      INSERT INTO ledger_updates (seq, address, class, ordinal, roles, "milestoneIndex", "outputId",
        "isSpent", "historyHash", balance)
      SELECT value ->> 0, unhex(value ->> 1), value ->> 2, value ->> 3, value ->> 4, value ->> 5,
        unhex(value ->> 6), value ->> 7, unhex(value ->> 8), CAST(value ->> 9 AS INTEGER)
      FROM json_each(${JSON.stringify(rows)})`
  },

  async raisePrunedTips(tx, newest) {
    const rows = newest.map((tip) => [
      digits(tip.address),
      classToNumber(tip.class),
      tip.ordinal,
      digits(tip.historyHash),
      tip.milestoneIndex,
      tip.balance?.toString() ?? null,
    ])
    await tx.$executeRaw`
      INSERT INTO pruned_tips (address, class, ordinal, "historyHash", "milestoneIndex", balance)
      SELECT unhex(value ->> 0), value ->> 1, value ->> 2, unhex(value ->> 3), value ->> 4,
        CAST(value ->> 5 AS INTEGER)
      FROM json_each(${JSON.stringify(rows)}) WHERE true
      ON CONFLICT (address, class) DO UPDATE
        SET ordinal = excluded.ordinal, "historyHash" = excluded."historyHash",
          "milestoneIndex" = excluded."milestoneIndex", balance = excluded.balance`
  },

  async insertCommitments(tx, milestones) {
    const rows = milestones.map((milestone) => [
      milestone.slot,
      digits(milestone.commitmentId),
      digitsOf(milestone.bytes),
      milestone.firstSeq,
      milestone.lastSeq,
    ])
    await tx.$executeRaw`
      INSERT INTO commitments (slot, id, bytes, "firstSeq", "lastSeq")
      SELECT value ->> 0, unhex(value ->> 1), unhex(value ->> 2), value ->> 3, value ->> 4
      FROM json_each(${JSON.stringify(rows)})`
  },
}
