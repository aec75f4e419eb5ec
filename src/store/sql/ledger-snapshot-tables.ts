import { hex, id, long, text, writtenTable } from './columns.ts'

/** Tables that ledger snapshots use besides the tables of the ledger. */

/** Outputs by the chain that they are a state of. */
export const chainPlaces = writtenTable('chain_states', {
  chainId: hex,
  outputId: id<'OutputId'>(),
})

/** Progress of the import of a ledger snapshot. */
export const snapshotProgress = writtenTable('snapshot_progress', {
  id: long,
  head: text,
  position: text,
})
