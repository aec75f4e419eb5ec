import { bytesToHex } from '../lib/hex.ts'
import type { Client } from './client.ts'
import type { StoreReader } from './contract.ts'

/** Creates the reads of the network of a ledger, which never changes, and of whether the database holds a ledger yet. */
export function stateReads(client: Client) {
  return {
    network: async () => {
      const row = await client.network.findUnique({ where: { id: 1n } })
      return row === null ? undefined : { logId: bytesToHex(row.logId), parameters: row.parameters }
    },
    isImporting: async () => (await client.import.count()) > 0,
  } satisfies Partial<StoreReader>
}
