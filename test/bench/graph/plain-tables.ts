import { ownerAt } from '../../../src/ledger/updates.ts'
import { bytesToHex } from '../../../src/lib/hex.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { addressKey } from '../../../src/protocol/ids.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import type { SlotIndex } from '../../../src/protocol/primitives.ts'
import { decode } from '../../../src/protocol/schema/schema.ts'
import { maxSlot } from '../../../src/protocol/slots.ts'
import { openDatabase } from '../../../src/store/open.ts'
import { bulkOf } from '../../../src/store/sql/bulk.ts'
import { amount, hex, int, long, optional, writtenTable } from '../../../src/store/sql/columns.ts'
import { dialect as postgresql } from '../../../src/store/sql/postgresql/dialect.ts'
import { dialect as sqlite } from '../../../src/store/sql/sqlite/dialect.ts'
import { worldParameters } from '../../support/ledger-world.ts'
import { unwrap } from '../transfers.ts'

/**
 * Tables of an explorer built with Prisma: outputs with columns instead of bytes, the changes of each transaction, and an index for
 * each relation. The tables are added to those of the gateway, which does not use them.
 */

const outputs = writtenTable('plain_outputs', {
  id: hex,
  transactionId: hex,
  kind: int,
  amount,
  mana: optional(amount),
  owner: hex,
  bookedSlot: long,
  spentSlot: optional(long),
  spentBy: optional(hex),
  receiver: hex,
  sender: optional(hex),
})

const tablesOf = (bytes: 'BLOB' | 'BYTEA') => [
  `CREATE TABLE plain_outputs (id ${bytes} PRIMARY KEY, "transactionId" ${bytes} NOT NULL, kind INT NOT NULL,
    amount BIGINT NOT NULL, mana BIGINT, owner ${bytes} NOT NULL, "chainId" ${bytes}, "bookedSlot" BIGINT NOT NULL,
    "spentSlot" BIGINT, "spentBy" ${bytes}, receiver ${bytes}, sender ${bytes})`,
  `CREATE TABLE plain_changes ("transactionId" ${bytes} NOT NULL, address ${bytes} NOT NULL, sent BIGINT NOT NULL,
    received BIGINT NOT NULL, PRIMARY KEY ("transactionId", address))`,
]

const afterwards = [
  'UPDATE plain_outputs SET "chainId" = c."chainId" FROM chain_states AS c WHERE c."outputId" = plain_outputs.id',
  `INSERT INTO plain_changes ("transactionId", address, sent, received)
    SELECT id, address, sum(sent), sum(received) FROM (
      SELECT "spentBy" AS id, sender AS address, amount AS sent, 0 AS received FROM plain_outputs WHERE "spentBy" IS NOT NULL
      UNION ALL
      SELECT "transactionId", receiver, 0, amount FROM plain_outputs WHERE "bookedSlot" > 0
    ) AS moved GROUP BY id, address`,
  'ALTER TABLE plain_outputs DROP COLUMN receiver',
  'ALTER TABLE plain_outputs DROP COLUMN sender',
  'CREATE INDEX plain_outputs_transaction ON plain_outputs ("transactionId")',
  'CREATE INDEX plain_outputs_spent ON plain_outputs ("spentBy")',
  'CREATE INDEX plain_outputs_owner ON plain_outputs (owner, "spentSlot", "bookedSlot", id)',
  'CREATE INDEX plain_outputs_kind ON plain_outputs (owner, kind, "spentSlot", "bookedSlot", id)',
  'CREATE INDEX plain_parents ON block_parents (inbox)',
  'CREATE INDEX plain_updates ON ledger_updates ("outputId")',
]

/** Adds the tables to a database whose last transactions are in `lastSlot`. */
export async function addPlainTables(url: string, lastSlot: SlotIndex): Promise<void> {
  const { kind, writer, reader, close } = unwrap(await openDatabase({ url, log: silentLog }))
  const run = (sql: string) => writer.$executeRawUnsafe(sql)
  const bulk = bulkOf(kind === 'sqlite' ? sqlite : postgresql)
  for (const sql of tablesOf(kind === 'sqlite' ? 'BLOB' : 'BYTEA')) await run(sql)
  for (let slot = 0; slot <= lastSlot; slot++) {
    const rows = await reader.output.findMany({ where: { bookedSlot: slot } })
    if (rows.length > 0) await bulk.insert(writer, outputs, rows.map(plainOutput))
  }
  for (const sql of afterwards) await run(sql)
  await run(kind === 'sqlite' ? 'ANALYZE' : 'VACUUM ANALYZE')
  if (kind === 'sqlite') await writer.$queryRawUnsafe('PRAGMA wal_checkpoint(TRUNCATE)')
  await close()
}

interface StoredOutput {
  readonly id: Uint8Array
  readonly bytes: Uint8Array
  readonly bookedSlot: bigint
  readonly spentSlot: bigint | null
  readonly spentBy: Uint8Array | null
}

/** The row of an output. Its owner is the current one, as in the gateway; unspent outputs count as expired. */
function plainOutput({ id, bytes, bookedSlot, spentSlot, spentBy }: StoredOutput) {
  const decoded = decode(Output, bytes)
  if (!decoded.ok) throw new Error(decoded.error.code)
  const output = decoded.value
  const ownerIn = (slot: number) =>
    addressKey(ownerAt(output, slot + worldParameters.minCommittableAge))
  const spent = spentSlot === null ? undefined : Number(spentSlot)
  return {
    id: bytesToHex(id),
    transactionId: bytesToHex(id.subarray(0, 36)),
    kind: output.type,
    amount: output.amount,
    mana: 'mana' in output ? output.mana : undefined,
    owner: ownerIn(spent ?? maxSlot),
    bookedSlot: Number(bookedSlot),
    spentSlot: spent,
    spentBy: spentBy === null ? undefined : bytesToHex(spentBy),
    receiver: ownerIn(Number(bookedSlot)),
    sender: spent === undefined ? undefined : ownerIn(spent),
  }
}
