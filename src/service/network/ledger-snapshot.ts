import { err, ok, type Result } from '../../lib/result.ts'
import { isTooOld, snapshotLines, wholeSnapshot } from '../../node/snapshot/read-snapshot.ts'
import { parsePosition } from '../../node/snapshot/snapshot-format.ts'
import type { SnapshotNotReady } from '../../node/source.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Services } from '../services.ts'
import type { NotOffered } from './not-offered.ts'

/** Snapshots of the ledger, from which another gateway can start. */

/** The slot and the lines of a snapshot. The lines are read while they are sent. */
export interface LedgerSnapshot {
  readonly slot: SlotIndex
  readonly lines: AsyncGenerator<string>
}

/** The slot of the snapshot is too old or unknown: the client has to start a new snapshot. */
export interface SnapshotExpired {
  readonly code: 'SNAPSHOT_EXPIRED'
  readonly slot: SlotIndex
}

/** The text is not a position in a snapshot. */
export interface SnapshotPositionMalformed {
  readonly code: 'CURSOR_MALFORMED'
  readonly argument: 'from'
}

/** Why no snapshot is returned. */
export type SnapshotError =
  | SnapshotPositionMalformed
  | NotOffered
  | SnapshotNotReady
  | SnapshotExpired

/** Opens the snapshot of the newest slot, or resumes a snapshot at a position: slot, section, last key and last check. */
export async function openLedgerSnapshot(
  { store, source }: Pick<Services, 'store' | 'source'>,
  place: string | undefined,
): Promise<Result<LedgerSnapshot, SnapshotError>> {
  const { read } = store
  const { parameters } = source.network
  if (source.snapshotHead === undefined) {
    return err({
      code: 'NOT_OFFERED_BY_NODES',
      what: 'snapshots, which contain the entries of accounts',
    })
  }
  if (place === undefined) {
    const head = await source.snapshotHead()
    if (!head.ok) return head
    return ok({ slot: head.value.slot, lines: wholeSnapshot(read, head.value, parameters) })
  }
  const from = parsePosition(place)
  if (from === undefined) return err({ code: 'CURSOR_MALFORMED', argument: 'from' })
  const { slot } = from
  const milestone = await read.milestone(slot)
  const range = { ...from, seq: milestone?.lastSeq ?? 0, parameters }
  if (milestone === undefined || (await isTooOld(read, range))) {
    return err({ code: 'SNAPSHOT_EXPIRED', slot })
  }
  return ok({ slot, lines: snapshotLines(read, range) })
}
