import { hexToBytes } from '../lib/hex.ts'
import type { Client } from './client.ts'
import type { StoreReader } from './contract.ts'
import { toAccountVersion, toEpoch } from './mapping.ts'
import { idFromBytes, kindToNumber } from './values.ts'

/** Reads of the ledger's state beside the log: accounts, epochs, what is unspent. */

/** Reads of the state, now and as of former slots. */
export function stateReads(client: Client) {
  return {
    accountEntry: async (accountId, slot) => {
      const where = { id: hexToBytes(accountId), ...upTo(slot) }
      const row = await client.accountVersion.findFirst({ where, orderBy: { slot: 'desc' } })
      return row === null ? undefined : toAccountVersion(row).entry
    },
    accountVersions: async (slot) => {
      const newest = await client.accountVersion.groupBy({
        by: ['id'],
        where: upTo(slot),
        _max: { slot: true },
      })
      const last = new Map(newest.map(({ id, _max }) => [idFromBytes(id), _max.slot]))
      const rows = await client.accountVersion.findMany({
        where: { OR: [{ slot: { gt: BigInt(slot) } }, { slot: { in: slotsOf(last.values()) } }] },
        orderBy: [{ id: 'asc' }, { slot: 'asc' }],
      })
      return rows
        .filter((row) => row.slot > BigInt(slot) || last.get(idFromBytes(row.id)) === row.slot)
        .map(toAccountVersion)
    },
    epochs: async (from) => {
      const where = { epoch: { gte: BigInt(from) } }
      return (await client.epoch.findMany({ where, orderBy: { epoch: 'asc' } })).map(toEpoch)
    },
    unspentIds: async ({ slot, from, to }) => {
      const rows = await client.output.findMany({
        where: {
          bookedSlot: { gte: BigInt(from), lte: BigInt(Math.min(to, slot)) },
          OR: [{ spentSlot: null }, { spentSlot: { gt: BigInt(slot) } }],
        },
        select: { id: true },
      })
      return rows.map(({ id }) => idFromBytes(id))
    },
    blocksOfKind: async (kind, from, to) => {
      const rows = await client.block.findMany({
        where: {
          slot: { gte: BigInt(from), lte: BigInt(to) },
          kind: kindToNumber(kind),
          state: { notIn: ['PENDING', 'DROPPED'] },
        },
        select: { id: true, slot: true, issuerId: true, issuingTime: true },
      })
      return rows.map(({ id, slot, issuerId, issuingTime }) => ({
        blockId: idFromBytes(id),
        slot: Number(slot),
        issuerId: idFromBytes(issuerId),
        issuingTime,
      }))
    },
    issuingTimes: async (blockIds) => {
      const rows = await client.block.findMany({
        where: { id: { in: blockIds.map(hexToBytes) } },
        select: { id: true, issuingTime: true },
      })
      return new Map(rows.map(({ id, issuingTime }) => [idFromBytes(id), issuingTime]))
    },
  } satisfies Partial<StoreReader>
}

function upTo(slot: number | undefined) {
  return slot === undefined ? {} : { slot: { lte: BigInt(slot) } }
}

function slotsOf(slots: Iterable<bigint | null>): bigint[] {
  return [...new Set(slots)].filter((slot) => slot !== null)
}
