import { bytesToHex } from '../lib/hex.ts'
import { passTurn } from '../lib/turns.ts'
import type { StoreReader } from './contract.ts'
import type { Database } from './database.ts'
import { cacheImmutableReads } from './immutable-reads.ts'
import { createOwnedReader } from './owned.ts'
import { readsByForm } from './partitions/reads-by-form.ts'
import { cacheRowReads, type RowCache } from './row-cache.ts'
import type { LedgerUpdate, LogRange } from './rows.ts'
import { blockListReads, blockReads } from './sql/block-reads.ts'
import { chainRecordReads } from './sql/chain-record-reads.ts'
import { epochReads } from './sql/epoch-reads.ts'
import { ledgerSnapshotReads } from './sql/ledger-snapshot-reads.ts'
import { listReads } from './sql/list-reads.ts'
import { branchesRead, headReads, logTipRead } from './sql/log-tip.ts'
import { outputReads } from './sql/output-reads.ts'
import { createReading, type Reading } from './sql/reading.ts'
import { slotReads } from './sql/slot-reads.ts'
import { trieReads } from './sql/trie-reads.ts'
import { type LogReads, logReads } from './sql/updates.ts'
import { viewReads } from './view-reads.ts'

/** Creates the reading side of a store. Only readers use its client, because a query on a client with a transaction runs inside it. */
export function createReader(
  database: Pick<
    Database,
    'reader' | 'query' | 'queryBoth' | 'logForms' | 'changes' | 'version' | 'statements'
  >,
): StoreReader {
  const { reader: client, statements } = database
  const reading = createReading(database)
  const prepared = readsByForm(reading, preparedReads)

  return {
    ...prepared,
    ...cacheImmutableReads(prepared),
    reach: async () => {},
    version: () => database.version(),
    lease: () => statements.readLease(client),
    ...readsByForm(reading, (own) => ({ owned: createOwnedReader(own) })),
    network: async () => {
      const row = await client.network.findUnique({ where: { id: 1n } })
      return row === null ? undefined : { logId: bytesToHex(row.logId), parameters: row.parameters }
    },
    isImporting: async () => (await client.import.count()) > 0,
  }
}

/** Creates a reader of one snapshot. Reads that do not depend on a snapshot, or whose results never change, come from `base`. */
export function createSnapshotReader(
  base: StoreReader,
  snapshot: Pick<Database, 'query' | 'queryBoth' | 'logForms' | 'statements'>,
  rowCache: RowCache,
): StoreReader {
  const reading = createReading(snapshot)
  const reads = { ...readsByForm(reading, preparedReads), ...headReads(reading) }
  return { ...base, ...reads, ...cacheRowReads(rowCache, reads) }
}

/** Creates the reads of the ledger, which use prepared statements. */
function preparedReads(reading: Reading) {
  const log = logReads(reading)

  return {
    logTip: logTipRead(reading),
    branchesAt: branchesRead(reading),
    updates: (range) => readUpdates(log, range),
    addressPage: async (query) => {
      await passTurn()
      return await log.page(query)
    },
    ...slotReads(reading),
    ...blockReads(reading),
    ...blockListReads(reading),
    ...outputReads(reading),
    ...listReads(reading),
    updatesAt: (seqs) => log.atSeqs(seqs),
    ...chainRecordReads(reading),
    ...viewReads(reading),
    ...epochReads(reading),
    ...trieReads(reading),
    ...ledgerSnapshotReads(reading),
  } satisfies Partial<StoreReader>
}

/** Reads log rows by one scan of (address, class, seq) per class, or by one scan of the log. Each scan reads at most `limit` rows. */
async function readUpdates(log: LogReads, range: LogRange): Promise<LedgerUpdate[]> {
  // The driver of SQLite is synchronous, so many reads in a row would block the event loop.
  await passTurn()
  const { address, classes, limit, order } = range
  if (address === undefined) return await log.ofLog(range)
  const scans = classes.map((one) => log.ofAddress({ ...range, address }, one))
  const rows = (await Promise.all(scans)).flat()
  if (scans.length > 1) rows.sort((a, b) => (order === 'ascending' ? a.seq - b.seq : b.seq - a.seq))
  return rows.slice(0, limit)
}
