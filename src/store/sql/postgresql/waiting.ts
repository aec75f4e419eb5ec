import type {
  AwaitedCount,
  AwaitedRow,
  OverdueRow,
  WaitingStatements,
} from '../waiting-statements.ts'
import { bytea, idsJson } from './values.ts'

/** The bulk statements of transactions that wait on PostgreSQL. */
export const waitingStatements: WaitingStatements = {
  async releaseCarriers(tx, transactionIds) {
    const ids = idsJson(transactionIds)
    await tx.$executeRaw`
      UPDATE waiting_carriers SET missing = missing - freed.count
      FROM (
        SELECT inbox, count(*)::int AS count FROM awaited_transactions
        JOIN jsonb_to_recordset(${ids}::jsonb) AS booked (id bytea) ON booked.id = "transactionId"
        GROUP BY inbox
      ) AS freed
      WHERE waiting_carriers.inbox = freed.inbox`
    await tx.$executeRaw`
      DELETE FROM awaited_transactions
      USING jsonb_to_recordset(${ids}::jsonb) AS booked (id bytea)
      WHERE awaited_transactions."transactionId" = booked.id`
  },

  async deleteWaiting(tx, places) {
    const json = JSON.stringify(places.map((inbox) => ({ inbox })))
    await tx.$executeRaw`
      DELETE FROM awaited_transactions
      USING jsonb_to_recordset(${json}::jsonb) AS over (inbox bigint)
      WHERE awaited_transactions.inbox = over.inbox`
    await tx.$executeRaw`
      DELETE FROM waiting_carriers
      USING jsonb_to_recordset(${json}::jsonb) AS over (inbox bigint)
      WHERE waiting_carriers.inbox = over.inbox`
  },

  async insertWaiting(tx, carriers) {
    const rows = carriers.map(({ inbox, slot, awaits }) => ({
      inbox,
      slot,
      missing: awaits.length,
    }))
    await tx.$executeRaw`
      INSERT INTO waiting_carriers (inbox, slot, missing)
      SELECT inbox, slot, missing FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS begun (inbox bigint, slot bigint, missing int)`
  },

  async insertAwaited(tx, awaited) {
    const rows = awaited.map(({ transactionId, inbox }) => ({ id: bytea(transactionId), inbox }))
    await tx.$executeRaw`
      INSERT INTO awaited_transactions ("transactionId", inbox)
      SELECT id, inbox FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS begun (id bytea, inbox bigint)`
  },

  countAwaited(tx, transactionIds) {
    return tx.$queryRaw<AwaitedCount[]>`
      SELECT "transactionId", count(*) AS count FROM awaited_transactions
      JOIN jsonb_to_recordset(${idsJson(transactionIds)}::jsonb) AS asked (id bytea)
        ON asked.id = "transactionId"
      GROUP BY "transactionId"`
  },

  awaitedBy(tx, transactionIds) {
    return tx.$queryRaw<AwaitedRow[]>`
      SELECT awaited."transactionId", awaited.inbox, waiting.missing
      FROM awaited_transactions AS awaited
      JOIN jsonb_to_recordset(${idsJson(transactionIds)}::jsonb) AS asked (id bytea)
        ON asked.id = awaited."transactionId"
      JOIN waiting_carriers AS waiting ON waiting.inbox = awaited.inbox`
  },

  waitingUpTo(tx, upTo, limit) {
    return tx.$queryRaw<OverdueRow[]>`
      SELECT blocks.inbox, blocks.id, blocks.slot, blocks."transactionId"
      FROM waiting_carriers AS waiting JOIN blocks ON blocks.inbox = waiting.inbox
      WHERE waiting.slot <= ${upTo} ORDER BY waiting.inbox LIMIT ${limit}`
  },
}
