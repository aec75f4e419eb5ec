import { carrierFailures } from '../../../ledger/failure-reasons.ts'
import { idFromBytes, kindToNumber } from '../../values.ts'
import type { InboxStatements } from '../statements.ts'
import { bytea, byteaOf, idsJson } from './values.ts'

/** The bulk statements of the inbox on PostgreSQL. */
export const inboxStatements: InboxStatements = {
  async knownBlocks(tx, blockIds) {
    const rows = await tx.$queryRaw<{ id: Uint8Array }[]>`
      SELECT blocks.id FROM blocks
      JOIN jsonb_to_recordset(${idsJson(blockIds)}::jsonb) AS asked (id bytea) USING (id)`
    return new Set(rows.map((row) => idFromBytes<'BlockId'>(row.id)))
  },

  async insertBlocks(tx, blocks) {
    const rows = blocks.map((block) => ({
      id: bytea(block.blockId),
      inbox: block.inbox,
      slot: block.slot,
      issuerId: bytea(block.issuerId),
      // As text, for a JSON number would lose the nanoseconds.
      issuingTime: block.issuingTime.toString(),
      bytes: byteaOf(block.bytes),
      transactionId: block.transactionId === undefined ? null : bytea(block.transactionId),
      kind: kindToNumber(block.kind),
      workScore: block.workScore,
    }))
    await tx.$executeRaw`
      INSERT INTO blocks
        (id, inbox, slot, "issuerId", "issuingTime", bytes, "transactionId", state, kind,
          "workScore")
      SELECT id, inbox, slot, "issuerId", "issuingTime", bytes, "transactionId", 'PENDING', kind,
        "workScore"
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS added (id bytea, inbox bigint,
        slot bigint, "issuerId" bytea, "issuingTime" bigint, bytes bytea, "transactionId" bytea,
        kind int, "workScore" bigint)`
  },

  async insertParents(tx, references) {
    const rows = references.map(({ parent, child }) => ({
      parent: bytea(parent),
      child: bytea(child),
    }))
    await tx.$executeRaw`
      INSERT INTO block_parents (parent, child)
      SELECT parent, child
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS added (parent bytea, child bytea)`
  },

  async insertTransactions(tx, carried) {
    const rows = carried.map(({ transactionId, blockId, slot, carriers }) => ({
      id: bytea(transactionId),
      blockId: bytea(blockId),
      slot,
      carriers,
    }))
    // In the order of ids, in which booking locks them as well: neither can wait for the other in a circle.
    await tx.$executeRaw`
      INSERT INTO transactions AS known (id, "blockId", slot, state, carriers)
      SELECT id, "blockId", slot, 'PENDING', carriers
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS added (id bytea, "blockId" bytea, slot bigint, carriers int)
      ORDER BY id
      ON CONFLICT (id) DO UPDATE SET state = 'PENDING', "failureReason" = NULL,
        "blockId" = CASE known.state WHEN 'PENDING' THEN known."blockId"
          ELSE excluded."blockId" END,
        slot = CASE known.state WHEN 'PENDING' THEN known.slot ELSE excluded.slot END,
        carriers = CASE known.state WHEN 'PENDING' THEN known.carriers ELSE 0 END
          + excluded.carriers
      WHERE known.state = 'PENDING'
        OR (known.state = 'FAILED' AND known."failureReason" = ANY (${carrierFailures}::int[]))`
  },
}
