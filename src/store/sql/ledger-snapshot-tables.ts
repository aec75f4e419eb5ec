import { hex, id, long, text, writtenTable } from './columns.ts'

/** What snapshots of the ledger read and write beside the tables of the ledger. */

/** Outputs as states of chains. */
export const chainPlaces = writtenTable('chain_states', {
  chainId: hex,
  outputId: id<'OutputId'>(),
})

/** How much of a snapshot is here. */
export const snapshotProgress = writtenTable('snapshot_progress', {
  id: long,
  head: text,
  position: text,
})
