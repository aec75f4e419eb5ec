import { type KeyValue, trieRootOf } from '../../ledger/trie-root.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import {
  accountEntries,
  type CheckedHead,
  checkRoots,
  createLineReader,
  outputEntries,
} from './check-snapshot.ts'
import type { SnapshotAway, SnapshotInvalid } from './snapshot-errors.ts'
import { parsePart, type SnapshotRows, splitLine } from './snapshot-format.ts'
import { SnapshotCut, type SnapshotSource } from './snapshot-source.ts'

/** Checks a snapshot without a database: all but whether nodes have its commitment. */

/** A snapshot that proves itself. */
export interface VerifiedSnapshot {
  readonly head: CheckedHead
  readonly counts: Readonly<Record<SnapshotRows['section'], number>>
}

/** Reads it once for its lines, and again for each range of the tries that memory has room for. */
export async function verifySnapshot(
  source: SnapshotSource,
): Promise<Result<VerifiedSnapshot, SnapshotInvalid | SnapshotAway>> {
  try {
    const checked = await checkLines(source)
    if (!checked.ok) return checked
    const { head } = checked.value.head
    const differs = checkRoots(head, {
      state: await trieRootOf(() => entriesIn(source, 'outputs')),
      accounts: await trieRootOf(() => entriesIn(source, 'accounts')),
    })
    return differs === undefined ? checked : err(differs)
  } catch (failure) {
    // The file or the gateway is not there, or ends by a fault.
    return err({ code: 'SNAPSHOT_AWAY', reason: failure instanceof Error ? failure.message : '' })
  }
}

async function checkLines(
  source: SnapshotSource,
): Promise<Result<VerifiedSnapshot, SnapshotInvalid>> {
  const reader = createLineReader({ withProofs: true })
  const counts = { outputs: 0, accounts: 0, tips: 0 }
  try {
    for await (const line of source.lines(undefined)) {
      const part = reader.take(line)
      if (!part.ok) return part
      const head = reader.head()
      if (part.value.section === 'end' && head !== undefined) return ok({ head, counts })
      if (!('rows' in part.value)) continue
      counts[part.value.section] += part.value.rows.length
    }
  } catch (failure) {
    if (!(failure instanceof SnapshotCut)) throw failure
  }
  return err(reader.endedEarly())
}

/** Of lines that were checked. */
async function* entriesIn(
  source: SnapshotSource,
  section: 'outputs' | 'accounts',
): AsyncGenerator<Iterable<KeyValue>> {
  for await (const line of source.lines(undefined)) {
    const split = splitLine(line)
    const part = split && parsePart(split.text)
    if (part?.section !== section) continue
    if (part.section === 'outputs') yield outputEntries(part.rows.map(({ outputId }) => outputId))
    if (part.section === 'accounts') yield accountEntries(part.rows)
  }
}
