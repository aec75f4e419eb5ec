import { toChainRecord } from './mapping.ts'
import type { ChainRecordVersion } from './rows.ts'
import type { Writing } from './sql/statements.ts'

/** Appends a version to the history of a chain's record; it replaces the record whole. */
export async function setChainRecord(
  { tx, sql }: Writing,
  record: Omit<ChainRecordVersion, 'version'>,
): Promise<ChainRecordVersion> {
  const { chainId } = record
  await sql.lockChainRecord(tx, chainId)
  // On SQLite writing first takes the lock, so that nobody appends the same version in between.
  await tx.chainRecord.updateMany({ where: { chainId, isNewest: true }, data: { isNewest: false } })
  const former = await tx.chainRecord.findFirst({
    where: { chainId },
    orderBy: { version: 'desc' },
  })
  const version = (former?.version ?? 0) + 1
  const { accessNodes, isActive, setBy, setAt } = record
  const row = await tx.chainRecord.create({
    data: {
      chainId,
      version,
      accessNodes: JSON.stringify(accessNodes),
      isActive,
      setBy,
      setAt: BigInt(setAt),
      isNewest: true,
    },
  })
  return toChainRecord(row)
}
