import { setImmediate } from 'node:timers/promises'
import { present } from '../lib/assert.ts'
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts'
import { noTip } from './append.ts'
import type { Client } from './client.ts'
import type { StoreReader } from './contract.ts'
import type { Database } from './database.ts'
import { keepAnswers } from './lasting-reads.ts'
import {
  toBlock,
  toChainRecord,
  toMilestone,
  toOutput,
  toPrunedTip,
  toTransaction,
} from './mapping.ts'
import { createOwnedReader } from './owned.ts'
import type { LedgerUpdate, LogRange, Milestone, NetworkRow, UpdateClass } from './rows.ts'
import { readBranches, readLogTip } from './sql/log-tip.ts'
import { scanOfAddress, scanOfLog } from './sql/updates.ts'
import { stateReads } from './state-reads.ts'
import { blockState, classToNumber, idFromBytes } from './values.ts'
import { viewReads } from './view-reads.ts'

/** The reading side. Its client belongs to readers alone, for a query beside a transaction would run inside it. */
export function createReader({
  reader: client,
  query,
  statements,
}: Pick<Database, 'reader' | 'query' | 'statements'>): StoreReader {
  async function network(): Promise<NetworkRow | undefined> {
    const row = await client.network.findUnique({ where: { id: 1n } })
    return row === null ? undefined : { logId: bytesToHex(row.logId), parameters: row.parameters }
  }

  async function latestMilestone(): Promise<Milestone> {
    const row = await client.commitment.findFirst({ orderBy: { slot: 'desc' } })
    return toMilestone(present(row, 'genesis commitment'))
  }

  const looked = { ...slotAndOutputReads(client), ...blockReads(client) }
  const states = stateReads(client)

  return {
    network,
    logTip: () => readLogTip(query),
    latestMilestone,
    lease: () => statements.readLease(client),
    branchesAt: (seqs) => readBranches(query, seqs),
    updates: (range) => readUpdates(query, range),
    owned: createOwnedReader(query),
    addressTip: (address, updateClass) => readAddressTip(client, address, updateClass),
    prunedTip: (address, updateClass) => readPrunedTip(client, address, updateClass),
    ...looked,
    ...states,
    ...keepAnswers({ ...looked, ...states }),
    ...viewReads(client),
    ...chainRecordReads(client),
  }
}

async function readAddressTip(client: Client, address: Hex, updateClass: UpdateClass) {
  const key = { address: hexToBytes(address), class: classToNumber(updateClass) }
  const orderBy = { seq: 'desc' } as const
  const select = { ordinal: true, historyHash: true } as const
  // Not by `findUnique`: Prisma asks for all of a moment at once, and of pairs has too many parameters then.
  const row =
    (await client.ledgerUpdate.findFirst({ where: key, orderBy, select })) ??
    (await client.prunedTip.findFirst({ where: key, select }))
  if (row === null) return noTip
  return { ordinal: Number(row.ordinal), historyHash: bytesToHex(row.historyHash) }
}

async function readPrunedTip(client: Client, address: Hex, updateClass: UpdateClass) {
  const key = { address: hexToBytes(address), class: classToNumber(updateClass) }
  const row = await client.prunedTip.findFirst({ where: key })
  return row === null ? undefined : toPrunedTip(row)
}

/** One scan of (address, class, seq) per class, or of the log itself; never more than `limit` rows each. */
async function readUpdates(ask: Database['query'], range: LogRange): Promise<LedgerUpdate[]> {
  // The driver of SQLite is synchronous: reads in a loop would block the event loop.
  await setImmediate()
  const { address, classes, limit, order } = range
  if (address === undefined) return await scanOfLog(ask, range)
  const scans = classes.map((one) => scanOfAddress(ask, { ...range, address }, one))
  const rows = (await Promise.all(scans)).flat()
  if (scans.length > 1) rows.sort((a, b) => (order === 'ascending' ? a.seq - b.seq : b.seq - a.seq))
  return rows.slice(0, limit)
}

function slotAndOutputReads(client: Client) {
  return {
    milestone: async (slot) => {
      const row = await client.commitment.findUnique({ where: { slot: BigInt(slot) } })
      return row === null ? undefined : toMilestone(row)
    },
    dueOutputs: async (after, upTo) => {
      const slot = { gt: BigInt(after), lte: BigInt(upTo) }
      const due = await client.dueOutput.findMany({ where: { slot } })
      const id = { in: due.map(({ outputId }) => outputId) }
      const rows = due.length === 0 ? [] : await client.output.findMany({ where: { id } })
      return rows.map(toOutput)
    },
    milestonesAfter: async (slot, limit) => {
      const where = { slot: { gt: BigInt(slot) } }
      const rows = await client.commitment.findMany({
        where,
        orderBy: { slot: 'asc' },
        take: limit,
      })
      return rows.map(toMilestone)
    },
    milestoneByCommitment: async (commitmentId) => {
      const row = await client.commitment.findUnique({ where: { id: hexToBytes(commitmentId) } })
      return row === null ? undefined : toMilestone(row)
    },
    transaction: async (transactionId) => {
      const row = await client.transaction.findUnique({ where: { id: hexToBytes(transactionId) } })
      return row === null ? undefined : toTransaction(row)
    },
    output: async (outputId) => {
      const row = await client.output.findUnique({ where: { id: hexToBytes(outputId) } })
      return row === null ? undefined : toOutput(row)
    },
    outputs: async (outputIds) => {
      const rows = await client.output.findMany({
        where: { id: { in: outputIds.map(hexToBytes) } },
      })
      return rows.map(toOutput)
    },
    milestones: async ({ from, to, order, limit: take }) => {
      const where = { slot: { gte: BigInt(from), lte: BigInt(to) } }
      const orderBy = { slot: order === 'ascending' ? 'asc' : 'desc' } as const
      return (await client.commitment.findMany({ where, orderBy, take })).map(toMilestone)
    },
    slotOutputs: async (slot) => {
      const [created, spent] = await Promise.all([
        client.output.findMany({ where: { bookedSlot: BigInt(slot) } }),
        client.output.findMany({ where: { spentSlot: BigInt(slot) } }),
      ])
      return { created: created.map(toOutput), spent: spent.map(toOutput) }
    },
  } satisfies Partial<StoreReader>
}

function blockReads(client: Client) {
  return {
    block: async (blockId) => {
      const row = await client.block.findUnique({ where: { id: hexToBytes(blockId) } })
      return row === null ? undefined : toBlock(row)
    },
    blocksAfter: async ({ inbox, limit }) => {
      const where = { inbox: { gt: BigInt(inbox) } }
      const rows = await client.block.findMany({ where, orderBy: { inbox: 'asc' }, take: limit })
      return rows.map(toBlock)
    },
    children: async (blockId, { skip, limit: take }) => {
      const where = { parent: hexToBytes(blockId) }
      const orderBy = { child: 'asc' } as const
      const rows = await client.blockParent.findMany({ where, orderBy, skip, take })
      return rows.map(({ child }) => idFromBytes(child))
    },
    slotBlocks: async (slot, { order, from, limit: take }) => {
      const ascending = order === 'ascending'
      const place = from === undefined ? {} : { [ascending ? 'gte' : 'lte']: BigInt(from) }
      const state = { in: ['ACCEPTED', 'CONFIRMED', 'FINALIZED'] }
      const where = { slot: BigInt(slot), state, inbox: place }
      const orderBy = { inbox: ascending ? 'asc' : 'desc' } as const
      return (await client.block.findMany({ where, orderBy, take })).map(toBlock)
    },
    newestInbox: async () => {
      const row = await client.block.findFirst({ orderBy: { inbox: 'desc' } })
      // Positions below the first one are of blocks that were never in the inbox.
      return Math.max(Number(row?.inbox ?? 0n), 0)
    },
    blockStates: async (blockIds) => {
      const where = { id: { in: blockIds.map(hexToBytes) } }
      const rows = await client.block.findMany({ where, select: { id: true, state: true } })
      return rows.map(({ id, state }) => ({
        blockId: idFromBytes(id),
        state: blockState(state),
      }))
    },
    countBlocks: async (from, to) => {
      const slot = { gte: BigInt(from), lte: BigInt(to) }
      const accepted = { in: ['ACCEPTED', 'CONFIRMED', 'FINALIZED'] }
      return {
        all: await client.block.count({ where: { slot } }),
        accepted: await client.block.count({ where: { slot, state: accepted } }),
      }
    },
    recentBlocks: async (limit) => {
      const where = { state: { not: 'DROPPED' } }
      // The slot follows from the issuing time, so this order is that of issuing time, and has an index.
      // Without the place in the inbox PostgreSQL gives blocks of one time in any order, and a restart offers other parents.
      const orderBy = [{ slot: 'desc' }, { issuingTime: 'desc' }, { inbox: 'desc' }] as const
      const rows = await client.block.findMany({ where, orderBy: [...orderBy], take: limit })
      return rows.map(toBlock)
    },
    newestSlotWithBlocks: async (upTo) => {
      const where = { slot: { lte: BigInt(upTo) }, state: { not: 'DROPPED' } }
      const row = await client.block.findFirst({
        where,
        orderBy: [{ slot: 'desc' }, { issuingTime: 'desc' }],
        select: { slot: true },
      })
      return row === null ? undefined : Number(row.slot)
    },
    pendingBlocks: async (limit) => {
      const where = { state: 'PENDING' }
      const rows = await client.block.findMany({ where, orderBy: { inbox: 'asc' }, take: limit })
      return rows.map(toBlock)
    },
  } satisfies Partial<StoreReader>
}

function chainRecordReads(client: Client) {
  return {
    chainRecord: async (chainId) => {
      const row = await client.chainRecord.findFirst({ where: { chainId, isNewest: true } })
      return row === null ? undefined : toChainRecord(row)
    },
    chainRecordHistory: async (chainId, { before, limit }) => {
      const where = { chainId, ...(before === undefined ? {} : { version: { lt: before } }) }
      const orderBy = { version: 'desc' } as const
      const rows = await client.chainRecord.findMany({ where, orderBy, take: limit })
      return rows.map(toChainRecord)
    },
    chainRecordChanges: async ({ after, limit }) => {
      const where = { change: { gt: BigInt(after) } }
      const orderBy = { change: 'asc' } as const
      const rows = await client.chainRecord.findMany({ where, orderBy, take: limit })
      return rows.map(toChainRecord)
    },
    latestChainRecordChange: async () => {
      const row = await client.chainRecord.findFirst({ orderBy: { change: 'desc' } })
      return Number(row?.change ?? 0n)
    },
    chainRecords: async ({ after, limit }) => {
      const where = { isNewest: true, ...(after === undefined ? {} : { chainId: { gt: after } }) }
      const orderBy = { chainId: 'asc' } as const
      const rows = await client.chainRecord.findMany({ where, orderBy, take: limit })
      return rows.map(toChainRecord)
    },
  } satisfies Partial<StoreReader>
}
