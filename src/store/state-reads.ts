import { bytesToHex } from '../lib/hex.ts'
import type { Client } from './client.ts'
import type { StoreReader } from './contract.ts'
import { toAccountVersion, toEpoch } from './mapping.ts'
import { idFromBytes } from './values.ts'

/** Reads of the ledger's state that are made once in a while: the network, all accounts, epochs, counts of blocks. */
export function stateReads(client: Client) {
  return {
    network: async () => {
      const row = await client.network.findUnique({ where: { id: 1n } })
      return row === null ? undefined : { logId: bytesToHex(row.logId), parameters: row.parameters }
    },
    accountVersions: async (slot) => {
      const newest = await client.accountVersion.groupBy({
        by: ['id'],
        where: { slot: { lte: BigInt(slot) } },
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
    accountVersionsAfter: async (slot) => {
      const where = { slot: { gt: BigInt(slot) } }
      const rows = await client.accountVersion.findMany({ where, orderBy: { slot: 'asc' } })
      return rows.map(toAccountVersion)
    },
    epochs: async (from) => {
      const where = { epoch: { gte: BigInt(from) } }
      return (await client.epoch.findMany({ where, orderBy: { epoch: 'asc' } })).map(toEpoch)
    },
    countBlocks: async (from, to) => {
      const slot = { gte: BigInt(from), lte: BigInt(to) }
      const accepted = { in: ['ACCEPTED', 'CONFIRMED', 'FINALIZED'] }
      return {
        all: await client.block.count({ where: { slot } }),
        accepted: await client.block.count({ where: { slot, state: accepted } }),
      }
    },
  } satisfies Partial<StoreReader>
}

function slotsOf(slots: Iterable<bigint | null>): bigint[] {
  return [...new Set(slots)].filter((slot) => slot !== null)
}
