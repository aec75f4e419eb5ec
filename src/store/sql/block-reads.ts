import { hexToBytes } from '../../lib/hex.ts'
import type { StoreReader } from '../contract.ts'
import { kindToNumber } from '../values.ts'
import {
  blockIds,
  blockStates,
  blocks,
  inboxPositions,
  issuedBlocks,
  transactions,
} from './bulk-tables.ts'
import type { Reading } from './reading.ts'
import { isAccepted } from './slot-outputs.ts'

/** Reads of blocks and transactions. */

/** Reads of blocks and transactions by id, and of the states, issuing times and children of blocks. */
export function blockReads({ row, rows, keyed }: Reading) {
  const block = row(blocks, 'WHERE id = ?')
  const states = keyed(blockStates, blockIds)
  const issued = keyed(issuedBlocks, blockIds)
  const positions =
    'SELECT inbox FROM block_parents WHERE parent = ? ORDER BY inbox LIMIT ? OFFSET ?'
  const children = rows(blockIds, `WHERE inbox IN (${positions}) ORDER BY inbox`)
  const transaction = row(transactions, 'WHERE id = ?')

  return {
    block: (blockId) => block(hexToBytes(blockId)),
    blockStates: (ids) => states(ids.map((blockId) => ({ blockId }))),
    issuingTimes: async (ids) => {
      const found = await issued(ids.map((blockId) => ({ blockId })))
      return new Map(found.map(({ blockId, issuingTime }) => [blockId, issuingTime]))
    },
    children: async (blockId, { skip, limit }) => {
      const found = await children(hexToBytes(blockId), limit, skip)
      return found.map((child) => child.blockId)
    },
    transaction: (transactionId) => transaction(hexToBytes(transactionId)),
  } satisfies Partial<StoreReader>
}

/** Reads of lists of blocks, by slot and by place in the inbox. */
export function blockListReads({ row, rows }: Reading) {
  const after = rows(blocks, 'WHERE inbox > ? ORDER BY inbox LIMIT ?')
  const ofSlot = `WHERE slot = ? AND ${isAccepted}`
  const slotBlocks = {
    ascending: rows(blocks, `${ofSlot} AND inbox >= ? ORDER BY inbox LIMIT ?`),
    descending: rows(blocks, `${ofSlot} AND inbox <= ? ORDER BY inbox DESC LIMIT ?`),
  }
  // The slot follows from the issuing time, so this is the order of issuing times. An index has it.
  const newestFirst = 'ORDER BY slot DESC, "issuingTime" DESC'
  // Without the place in the inbox, PostgreSQL returns blocks of equal issuing time in any order, and a restart offers other parents.
  const recent = rows(blocks, `WHERE state <> 'DROPPED' ${newestFirst}, inbox DESC LIMIT ?`)
  const newest = row(issuedBlocks, `WHERE slot <= ? AND state <> 'DROPPED' ${newestFirst} LIMIT 1`)
  const lastPosition = row(inboxPositions, 'ORDER BY inbox DESC LIMIT 1')
  const ofKind = rows(issuedBlocks, `WHERE slot >= ? AND slot <= ? AND kind = ? AND ${isAccepted}`)

  return {
    blocksAfter: ({ inbox, limit }) => after(inbox, limit),
    slotBlocks: (slot, { order, from, limit }) => {
      const end = order === 'ascending' ? -Number.MAX_SAFE_INTEGER : Number.MAX_SAFE_INTEGER
      return slotBlocks[order](slot, from ?? end, limit)
    },
    recentBlocks: (limit) => recent(limit),
    newestSlotWithBlocks: async (upTo) => (await newest(upTo))?.slot,
    // Blocks that were never in the inbox have places below 1.
    newestInbox: async () => Math.max((await lastPosition())?.inbox ?? 0, 0),
    blocksOfKind: (kind, from, to) => ofKind(from, to, kindToNumber(kind)),
  } satisfies Partial<StoreReader>
}
