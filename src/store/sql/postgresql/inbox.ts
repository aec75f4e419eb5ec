import type { Prisma } from '../../../generated/prisma/client.ts'
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
    const json = JSON.stringify(rows)
    // Nobody else inserts meanwhile, for the caller has the row of the inbox. An insert that met a known one could wait for
    // its booking, also where it is told to do nothing on a conflict.
    const inserted = await tx.$executeRaw`
      INSERT INTO transactions (id, "blockId", slot, state, carriers)
      SELECT id, "blockId", slot, 'PENDING', carriers
      FROM jsonb_to_recordset(${json}::jsonb)
        AS added (id bytea, "blockId" bytea, slot bigint, carriers int)
      WHERE NOT EXISTS (SELECT FROM transactions AS known WHERE known.id = added.id)`
    if (inserted < carried.length) await carryAgain(tx, json)
  },
}

/**
 * Transactions that were inserted just now have the block that is given, and are left out. One that is being booked at this
 * moment is passed over: booking may wait for the row of the inbox in its turn. It may so be told as failed until the next
 * booking judges the new carrier.
 */
async function carryAgain(tx: Prisma.TransactionClient, json: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE transactions SET state = 'PENDING', "failureReason" = NULL,
      "blockId" = CASE transactions.state WHEN 'PENDING' THEN transactions."blockId"
        ELSE known."blockId" END,
      slot = CASE transactions.state WHEN 'PENDING' THEN transactions.slot ELSE known.slot END,
      carriers = CASE transactions.state WHEN 'PENDING' THEN transactions.carriers ELSE 0 END
        + known.carriers
    FROM (
      SELECT id, added."blockId", added.slot, added.carriers FROM transactions AS free
      JOIN jsonb_to_recordset(${json}::jsonb)
        AS added (id bytea, "blockId" bytea, slot bigint, carriers int) USING (id)
      WHERE free."blockId" <> added."blockId" AND (free.state = 'PENDING' OR (
        free.state = 'FAILED' AND free."failureReason" = ANY (${carrierFailures}::int[])))
      FOR UPDATE OF free SKIP LOCKED
    ) AS known
    WHERE transactions.id = known.id`
}
