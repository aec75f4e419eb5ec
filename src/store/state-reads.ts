import { bytesToHex } from '../lib/hex.ts'
import type { Client } from './client.ts'
import type { StoreReader } from './contract.ts'
import { toAccountVersion } from './mapping.ts'

/** Reads of the ledger's state that are made once in a while, and never change: the network, and what slots changed of accounts. */
export function stateReads(client: Client) {
  return {
    network: async () => {
      const row = await client.network.findUnique({ where: { id: 1n } })
      return row === null ? undefined : { logId: bytesToHex(row.logId), parameters: row.parameters }
    },
    accountVersionsAfter: async (slot) => {
      const where = { slot: { gt: BigInt(slot) } }
      const rows = await client.accountVersion.findMany({ where, orderBy: { slot: 'asc' } })
      return rows.map(toAccountVersion)
    },
  } satisfies Partial<StoreReader>
}
