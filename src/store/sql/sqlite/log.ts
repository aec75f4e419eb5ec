import type { AddressTip } from '../../../generated/prisma/client.ts'
import { classToNumber, digits, digitsOf, rolesToMask } from '../../values.ts'
import type { LogStatements } from '../statements.ts'
import { idsJson } from './ids-json.ts'

/** The bulk statements of a slot's commit on SQLite. */
export const logStatements: LogStatements = {
  tipsByAddresses(tx, addresses) {
    return tx.$queryRaw<AddressTip[]>`
      SELECT address, class, ordinal, chain FROM address_tips
      WHERE address IN (SELECT unhex(value) FROM json_each(${idsJson(addresses)}))`
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
      digits(update.chain),
      update.balance?.toString() ?? null,
    ])
    await tx.$executeRaw`
      INSERT INTO ledger_updates (seq, address, class, ordinal, roles, "milestoneIndex", "outputId",
        "isSpent", chain, balance)
      SELECT value ->> 0, unhex(value ->> 1), value ->> 2, value ->> 3, value ->> 4, value ->> 5,
        unhex(value ->> 6), value ->> 7, unhex(value ->> 8), CAST(value ->> 9 AS INTEGER)
      FROM json_each(${JSON.stringify(rows)})`
  },

  async raiseTips(tx, newest) {
    const rows = newest.map((tip) => [
      digits(tip.address),
      classToNumber(tip.class),
      tip.ordinal,
      digits(tip.chain),
    ])
    await tx.$executeRaw`
      INSERT INTO address_tips (address, class, ordinal, chain)
      SELECT unhex(value ->> 0), value ->> 1, value ->> 2, unhex(value ->> 3)
      FROM json_each(${JSON.stringify(rows)}) WHERE true
      ON CONFLICT (address, class) DO UPDATE
        SET ordinal = excluded.ordinal, chain = excluded.chain`
  },

  async raisePrunedTips(tx, newest) {
    const rows = newest.map((tip) => [
      digits(tip.address),
      classToNumber(tip.class),
      tip.ordinal,
      digits(tip.chain),
      tip.milestoneIndex,
      tip.balance?.toString() ?? null,
    ])
    await tx.$executeRaw`
      INSERT INTO pruned_tips (address, class, ordinal, chain, "milestoneIndex", balance)
      SELECT unhex(value ->> 0), value ->> 1, value ->> 2, unhex(value ->> 3), value ->> 4,
        CAST(value ->> 5 AS INTEGER)
      FROM json_each(${JSON.stringify(rows)}) WHERE true
      ON CONFLICT (address, class) DO UPDATE
        SET ordinal = excluded.ordinal, chain = excluded.chain,
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
