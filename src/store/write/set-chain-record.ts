import { err, ok, type Result } from '../../lib/result.ts'
import type { ChainRecordDiffers } from '../contract.ts'
import type { ChainRecordVersion, NewChainRecord } from '../rows.ts'
import { chainRecords } from '../sql/bulk-tables.ts'
import type { Writing } from '../sql/statements.ts'

/** Appends a version to the history of a chain record. The version replaces the whole record. */
export async function setChainRecord(
  writing: Writing,
  record: NewChainRecord,
): Promise<ChainRecordVersion> {
  return append(writing, record, await supersede(writing, record.chainId))
}

/** Appends a version if the newest version is `expected`; 0 means that there is no record. */
export async function replaceChainRecord(
  writing: Writing,
  record: NewChainRecord,
  expected: number,
): Promise<Result<ChainRecordVersion, ChainRecordDiffers>> {
  const { tx, sql } = writing
  const { chainId } = record
  await sql.lockChainRecords(tx)
  const { count } = await tx.chainRecord.updateMany({
    where: { chainId, version: expected, isNewest: true },
    data: { isNewest: false },
  })
  if (count === 1) return ok(await append(writing, record, expected))
  const version = await newestVersion(writing, chainId)
  if (version === 0 && expected === 0) return ok(await append(writing, record, expected))
  return err({ code: 'CHAIN_RECORD_DIFFERS', version })
}

/** Marks the newest version as superseded, and returns its number. */
async function supersede(writing: Writing, chainId: string): Promise<number> {
  const { tx, sql } = writing
  await sql.lockChainRecords(tx)
  // On SQLite this write takes the lock, so that no other process appends the same version in between.
  await tx.chainRecord.updateMany({ where: { chainId, isNewest: true }, data: { isNewest: false } })
  return newestVersion(writing, chainId)
}

async function newestVersion({ tx }: Writing, chainId: string): Promise<number> {
  const orderBy = { version: 'desc' } as const
  const newest = await tx.chainRecord.findFirst({ where: { chainId }, orderBy })
  return newest?.version ?? 0
}

async function append(
  { tx }: Writing,
  { chainId, accessNodes, isActive, setBy, setAt }: NewChainRecord,
  former: number,
): Promise<ChainRecordVersion> {
  const last = await tx.chainRecord.findFirst({ orderBy: { change: 'desc' } })
  const row = await tx.chainRecord.create({
    data: {
      chainId,
      version: former + 1,
      accessNodes: JSON.stringify(accessNodes),
      isActive,
      setBy,
      setAt: BigInt(setAt),
      isNewest: true,
      change: (last?.change ?? 0n) + 1n,
    },
  })
  return chainRecords.rowFrom(row)
}
