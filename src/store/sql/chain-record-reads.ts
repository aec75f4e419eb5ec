import type { StoreReader } from '../contract.ts'
import { chainRecords } from './bulk-tables.ts'
import { both, boundsOf, type Reading } from './reading.ts'

export function chainRecordReads({ row, rows }: Reading) {
  const newest = row(chainRecords, 'WHERE "chainId" = ? AND "isNewest" = true')
  const versions = both((direction) =>
    rows(
      chainRecords,
      `WHERE "chainId" = ? AND version > ? AND version < ? ORDER BY version ${direction} LIMIT ?`,
    ),
  )
  const changes = rows(chainRecords, 'WHERE change > ? ORDER BY change LIMIT ?')
  const lastChange = row(chainRecords, 'ORDER BY change DESC LIMIT 1')
  const newestIn = both((direction) =>
    rows(
      chainRecords,
      `WHERE "isNewest" = true AND "chainId" > ? AND "chainId" < ? ORDER BY "chainId" ${direction} LIMIT ?`,
    ),
  )

  return {
    chainRecord: (chainId) => newest(chainId),
    chainRecordHistory: (chainId, part, { order, limit }) =>
      versions[order](chainId, ...boundsOf(part), limit),
    chainRecordChanges: ({ after, limit }) => changes(after, limit),
    latestChainRecordChange: async () => (await lastChange())?.change ?? 0,
    chainRecords: ({ above: [above], below: [below] }, { order, limit }) =>
      newestIn[order](String(above), String(below), limit),
  } satisfies Partial<StoreReader>
}
