import { accountEntries, outputEntries } from '../../ledger/trie-entries.ts'
import type { KeyValue } from '../../ledger/trie-pass.ts'
import { createTrieRoot, type TrieRoot } from '../../ledger/trie-root.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { reasonOf } from '../../store/unusable.ts'
import { type CheckedHead, checkRoots, createLineReader } from './check-snapshot.ts'
import type { SnapshotAway, SnapshotInvalid } from './snapshot-errors.ts'
import { parsePart, type SnapshotRows, splitLine } from './snapshot-format.ts'
import { invalidBy, SnapshotCut, type SnapshotSource } from './snapshot-source.ts'

/** Checks a snapshot without a database. Does not check whether nodes have its commitment. */

/** The head and the row counts of a valid snapshot. */
export interface VerifiedSnapshot {
  readonly head: CheckedHead
  readonly counts: Readonly<Record<SnapshotRows['section'], number>>
}

/** Reads a snapshot once, and again for each range of the tries that does not fit in memory. */
export async function verifySnapshot(
  source: SnapshotSource,
): Promise<Result<VerifiedSnapshot, SnapshotInvalid | SnapshotAway>> {
  const tries = { outputs: createTrieRoot(), accounts: createTrieRoot() }
  try {
    const checked = await checkLines(source, tries)
    if (!checked.ok) return checked
    const { head } = checked.value.head
    const differs = checkRoots(head, {
      state: await tries.outputs.root(() => entriesIn(source, 'outputs')),
      accounts: await tries.accounts.root(() => entriesIn(source, 'accounts')),
    })
    return differs === undefined ? checked : err(differs)
  } catch (failure) {
    const invalid = invalidBy(failure)
    if (invalid !== undefined) return err(invalid)
    // The file or the gateway is unavailable, or failed.
    return err({ code: 'SNAPSHOT_AWAY', reason: reasonOf(failure) })
  }
}

async function checkLines(
  source: SnapshotSource,
  tries: { readonly outputs: TrieRoot; readonly accounts: TrieRoot },
): Promise<Result<VerifiedSnapshot, SnapshotInvalid>> {
  const reader = createLineReader({ withProofs: true })
  const counts = { outputs: 0, accounts: 0, tips: 0 }
  try {
    for await (const line of source.lines(undefined)) {
      const part = await reader.take(line)
      if (!part.ok) return part
      const { value } = part
      const head = reader.head()
      if (value.section === 'end' && head !== undefined) return ok({ head, counts })
      if (!('rows' in value)) continue
      counts[value.section] += value.rows.length
      if (value.section === 'outputs') await tries.outputs.add(outputEntries(idsOf(value.rows)))
      if (value.section === 'accounts') await tries.accounts.add(accountEntries(value.rows))
    }
  } catch (failure) {
    if (!(failure instanceof SnapshotCut)) throw failure
  }
  return err(reader.endedEarly())
}

function idsOf(rows: readonly { readonly outputId: OutputId }[]): OutputId[] {
  return rows.map(({ outputId }) => outputId)
}

/** The trie entries in lines that were checked before. */
async function* entriesIn(
  source: SnapshotSource,
  section: 'outputs' | 'accounts',
): AsyncGenerator<Iterable<KeyValue>> {
  for await (const line of source.lines(undefined)) {
    const split = splitLine(line)
    const part = split && parsePart(split.text)
    if (part?.section !== section) continue
    if (part.section === 'outputs') yield outputEntries(idsOf(part.rows))
    if (part.section === 'accounts') yield accountEntries(part.rows)
  }
}
