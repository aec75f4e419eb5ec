import { carrierFailures } from '../../../ledger/failure-reasons.ts'
import { digits, digitsOf, idFromBytes, kindToNumber } from '../../values.ts'
import type { InboxStatements } from '../statements.ts'
import { idsJson } from './ids-json.ts'

/** The bulk statements of the inbox on SQLite. */
export const inboxStatements: InboxStatements = {
  async knownBlocks(tx, blockIds) {
    const rows = await tx.$queryRaw<{ id: Uint8Array }[]>`
      SELECT id FROM blocks WHERE id IN (SELECT unhex(value) FROM json_each(${idsJson(blockIds)}))`
    return new Set(rows.map((row) => idFromBytes<'BlockId'>(row.id)))
  },

  async insertBlocks(tx, blocks) {
    const rows = blocks.map((block) => [
      digits(block.blockId),
      block.inbox,
      block.slot,
      digits(block.issuerId),
      // As text, for a JSON number would lose the nanoseconds.
      block.issuingTime.toString(),
      digitsOf(block.bytes),
      block.transactionId === undefined ? null : digits(block.transactionId),
      kindToNumber(block.kind),
      block.workScore,
    ])
    await tx.$executeRaw`
      INSERT INTO blocks
        (id, inbox, slot, "issuerId", "issuingTime", bytes, "transactionId", state, kind,
          "workScore")
      SELECT unhex(value ->> 0), value ->> 1, value ->> 2, unhex(value ->> 3),
        CAST(value ->> 4 AS INTEGER), unhex(value ->> 5), unhex(value ->> 6), 'PENDING',
        value ->> 7, value ->> 8
      FROM json_each(${JSON.stringify(rows)})`
  },

  async insertParents(tx, references) {
    const rows = references.map(({ parent, child }) => [digits(parent), digits(child)])
    await tx.$executeRaw`
      INSERT INTO block_parents (parent, child)
      SELECT unhex(value ->> 0), unhex(value ->> 1) FROM json_each(${JSON.stringify(rows)})`
  },

  async insertTransactions(tx, carried) {
    const rows = carried.map(({ transactionId, blockId, slot, carriers }) => [
      digits(transactionId),
      digits(blockId),
      slot,
      carriers,
    ])
    await tx.$executeRaw`
      INSERT INTO transactions (id, "blockId", slot, state, carriers)
      SELECT unhex(value ->> 0), unhex(value ->> 1), value ->> 2, 'PENDING', value ->> 3
      FROM json_each(${JSON.stringify(rows)}) WHERE true
      ON CONFLICT (id) DO UPDATE SET state = 'PENDING', "failureReason" = NULL,
        "blockId" = iif(state = 'PENDING', "blockId", excluded."blockId"),
        slot = iif(state = 'PENDING', slot, excluded.slot),
        carriers = iif(state = 'PENDING', carriers, 0) + excluded.carriers
      WHERE state = 'PENDING' OR (state = 'FAILED' AND "failureReason" IN (
        SELECT value FROM json_each(${JSON.stringify(carrierFailures)})))`
  },
}
