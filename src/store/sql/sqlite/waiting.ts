import { digits } from '../../values.ts'
import type {
  AwaitedCount,
  AwaitedRow,
  OverdueRow,
  WaitingStatements,
} from '../waiting-statements.ts'
import { idsJson } from './ids-json.ts'

/** The bulk statements of transactions that wait on SQLite. */
export const waitingStatements: WaitingStatements = {
  async releaseCarriers(tx, transactionIds) {
    const ids = idsJson(transactionIds)
    await tx.$executeRaw`
      UPDATE waiting_carriers SET missing = missing - freed.count
      FROM (
        SELECT inbox, count(*) AS count FROM awaited_transactions
        WHERE "transactionId" IN (SELECT unhex(value) FROM json_each(${ids})) GROUP BY inbox
      ) AS freed
      WHERE waiting_carriers.inbox = freed.inbox`
    await tx.$executeRaw`
      DELETE FROM awaited_transactions
      WHERE "transactionId" IN (SELECT unhex(value) FROM json_each(${ids}))`
  },

  async deleteWaiting(tx, places) {
    const json = JSON.stringify(places)
    await tx.$executeRaw`
      DELETE FROM awaited_transactions WHERE inbox IN (SELECT value FROM json_each(${json}))`
    await tx.$executeRaw`
      DELETE FROM waiting_carriers WHERE inbox IN (SELECT value FROM json_each(${json}))`
  },

  async insertWaiting(tx, carriers) {
    const rows = carriers.map(({ inbox, slot, awaits }) => [inbox, slot, awaits.length])
    await tx.$executeRaw`
      INSERT INTO waiting_carriers (inbox, slot, missing)
      SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${JSON.stringify(rows)})`
  },

  async insertAwaited(tx, awaited) {
    const rows = awaited.map(({ transactionId, inbox }) => [digits(transactionId), inbox])
    await tx.$executeRaw`
      INSERT INTO awaited_transactions ("transactionId", inbox)
      SELECT unhex(value ->> 0), value ->> 1 FROM json_each(${JSON.stringify(rows)})`
  },

  countAwaited(tx, transactionIds) {
    return tx.$queryRaw<AwaitedCount[]>`
      SELECT "transactionId", count(*) AS count FROM awaited_transactions
      WHERE "transactionId" IN (SELECT unhex(value) FROM json_each(${idsJson(transactionIds)}))
      GROUP BY "transactionId"`
  },

  awaitedBy(tx, transactionIds) {
    return tx.$queryRaw<AwaitedRow[]>`
      SELECT awaited."transactionId", awaited.inbox, waiting.missing
      FROM awaited_transactions AS awaited
      JOIN waiting_carriers AS waiting ON waiting.inbox = awaited.inbox
      WHERE awaited."transactionId" IN (
        SELECT unhex(value) FROM json_each(${idsJson(transactionIds)}))`
  },

  waitingUpTo(tx, upTo, limit) {
    return tx.$queryRaw<OverdueRow[]>`
      SELECT blocks.inbox, blocks.id, blocks.slot, blocks."transactionId"
      FROM waiting_carriers AS waiting JOIN blocks ON blocks.inbox = waiting.inbox
      WHERE waiting.slot <= ${upTo} ORDER BY waiting.inbox LIMIT ${limit}`
  },
}
