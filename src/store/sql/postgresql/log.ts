import { classToNumber, rolesToMask } from '../../values.ts'
import type { LogStatements, TipRow } from '../statements.ts'
import { bytea, byteaOf } from './values.ts'

/** The bulk statements of a slot's commit on PostgreSQL. */
export const logStatements: LogStatements = {
  tips(tx, keys) {
    const rows = keys.map((key) => ({
      address: bytea(key.address),
      class: classToNumber(key.class),
    }))
    return tx.$queryRaw<TipRow[]>`
      SELECT asked.address, asked.class, tip.ordinal, tip."historyHash"
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS asked (address bytea, class int)
      CROSS JOIN LATERAL (
        SELECT ordinal, "historyHash" FROM (
          (SELECT ordinal, "historyHash" FROM ledger_updates AS own
            WHERE own.address = asked.address AND own.class = asked.class
            ORDER BY own.seq DESC LIMIT 1)
          UNION ALL
          (SELECT ordinal, "historyHash" FROM pruned_tips AS pruned
            WHERE pruned.address = asked.address AND pruned.class = asked.class)
        ) AS kept ORDER BY ordinal DESC LIMIT 1) AS tip`
  },

  async insertUpdates(tx, updates) {
    const rows = updates.map((update) => ({
      seq: update.seq,
      address: bytea(update.address),
      class: classToNumber(update.class),
      ordinal: update.ordinal,
      roles: rolesToMask(update.roles),
      milestoneIndex: update.milestoneIndex,
      outputId: bytea(update.outputId),
      isSpent: update.isSpent,
      historyHash: bytea(update.historyHash),
      balance: update.balance?.toString() ?? null,
    }))
    await tx.$executeRaw`
      INSERT INTO ledger_updates (seq, address, class, ordinal, roles, "milestoneIndex", "outputId",
        "isSpent", "historyHash", balance)
      SELECT seq, address, class, ordinal, roles, "milestoneIndex", "outputId", "isSpent", "historyHash",
        balance
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS added (seq bigint, address bytea,
        class int, ordinal bigint, roles int, "milestoneIndex" bigint, "outputId" bytea,
        "isSpent" boolean, "historyHash" bytea, balance bigint)`
  },

  async raisePrunedTips(tx, newest) {
    const rows = newest.map((tip) => ({
      address: bytea(tip.address),
      class: classToNumber(tip.class),
      ordinal: tip.ordinal,
      historyHash: bytea(tip.historyHash),
      milestoneIndex: tip.milestoneIndex,
      balance: tip.balance?.toString() ?? null,
    }))
    await tx.$executeRaw`
      INSERT INTO pruned_tips (address, class, ordinal, "historyHash", "milestoneIndex", balance)
      SELECT address, class, ordinal, "historyHash", "milestoneIndex", balance
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS newest (address bytea, class int,
        ordinal bigint, "historyHash" bytea, "milestoneIndex" bigint, balance bigint)
      ON CONFLICT (address, class) DO UPDATE
        SET ordinal = excluded.ordinal, "historyHash" = excluded."historyHash",
          "milestoneIndex" = excluded."milestoneIndex", balance = excluded.balance`
  },

  async insertCommitments(tx, milestones) {
    const rows = milestones.map((milestone) => ({
      slot: milestone.slot,
      id: bytea(milestone.commitmentId),
      bytes: byteaOf(milestone.bytes),
      firstSeq: milestone.firstSeq,
      lastSeq: milestone.lastSeq,
    }))
    await tx.$executeRaw`
      INSERT INTO commitments (slot, id, bytes, "firstSeq", "lastSeq")
      SELECT slot, id, bytes, "firstSeq", "lastSeq"
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS added (slot bigint, id bytea, bytes bytea, "firstSeq" bigint, "lastSeq" bigint)`
  },
}
