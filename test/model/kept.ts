import type { BlockId, SlotIndex } from '../../src/protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch } from '../../src/protocol/slots.ts'
import { restJson } from '../support/rest.ts'
import { until } from '../support/until.ts'
import type { LogRow } from './log.ts'
import type { StoredBlock, StoredLedger } from './stored-ledger.ts'
import { openTables } from './tables.ts'

/** What retention leaves of a ledger (settings: `LOG_RETENTION`, `BLOCK_RETENTION`). */

/** The settings. */
export interface Retention {
  /** Milestones of the log. */
  readonly log: number
  /** Slots of blocks without a transaction. */
  readonly blocks: number
}

/** The rows and blocks that are left. */
export interface Kept {
  /** The last pruned position of the log; 0 if no row was pruned. */
  readonly after: number
  /** The first milestone with a row that is left. */
  readonly from: SlotIndex
  readonly blocks: ReadonlySet<BlockId>
  /** The slot of the snapshot with which the ledger begins. Outputs that were spent up to it are not known. */
  readonly begunIn?: SlotIndex
}

/** What is left after the newest milestone. */
export function keptOf(
  ledger: StoredLedger,
  rows: readonly LogRow[],
  retention: Retention | undefined,
): Kept {
  const { committed, commitments, blocks } = ledger
  const after =
    retention === undefined ? 0 : (commitments.get(committed - retention.log)?.range[1] ?? 0)
  const from = rows.find(({ seq }) => seq > after)?.milestoneIndex ?? committed + 1
  const left = blocks.filter((block) => retention === undefined || isLeft(ledger, block, retention))
  return { after, from, blocks: new Set(left.map(({ blockId }) => blockId)) }
}

function isLeft(
  { parameters, committed, blocks }: StoredLedger,
  { signed, isCandidacy, isValidation, slot }: StoredBlock,
  retention: Retention,
): boolean {
  if (signed !== undefined || isCandidacy) return true
  const newest = Math.max(...blocks.map((one) => one.slot).filter((one) => one <= committed))
  const age = Math.max(retention.blocks, 2 * parameters.maxCommittableAge)
  if (slot >= newest - age) return true
  // The votes of an epoch are counted at its end.
  const lastEpoch = Math.max(0, epochOfSlot(parameters, committed) - 1)
  return isValidation && slot >= firstSlotOfEpoch(parameters, lastEpoch)
}

/** Waits until a gateway serves exactly what is left. Partitions of the log may keep deleted rows for a while. */
export async function untilPruned(
  { url, databaseUrl }: { readonly url: string; readonly databaseUrl: string },
  { rows, kept }: { readonly rows: readonly LogRow[]; readonly kept: Kept },
): Promise<void> {
  await until(isPruned, { what: 'exactly the old rows and blocks are deleted', deadlineMs: 20_000 })

  async function isPruned(): Promise<boolean> {
    const tables = await openTables(databaseUrl)
    const blocks = await tables.rows('blocks').finally(tables.close)
    const { prunedSeq } = await restJson(`${url}/api/gateway/v1/log`)
    return (
      prunedSeq === Math.min(kept.after, rows.length) &&
      blocks.length === kept.blocks.size &&
      blocks.every((row) => kept.blocks.has(row.hex('id')))
    )
  }
}
