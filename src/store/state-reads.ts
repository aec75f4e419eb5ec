import { bytesToHex } from '../lib/hex.ts'
import type { Client } from './client.ts'
import type { StoreReader } from './contract.ts'
import { toAccountVersion } from './mapping.ts'
import { idFromBytes } from './values.ts'

/** Reads of the ledger's state that are made once in a while, and never change: the network, and all accounts as of a slot. */
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
  } satisfies Partial<StoreReader>
}

function slotsOf(slots: Iterable<bigint | null>): bigint[] {
  return [...new Set(slots)].filter((slot) => slot !== null)
}
