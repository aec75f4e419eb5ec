import { accountTrieChanges } from '../../ledger/accounts.ts'
import { outputTrieChanges } from '../../ledger/state-root.ts'
import { type TrieEntry, trieChange, trieEntryWithin } from '../../ledger/trie-page.ts'
import { ok, type Result } from '../../lib/result.ts'
import { createTurns } from '../../lib/turns.ts'
import type { AccountId, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import type { Store } from '../../store/contract.ts'
import type { LeaseLost } from '../../store/lease-contract.ts'
import { allBuilt, type TriePage } from '../../store/trie-contract.ts'
import type { Starting } from '../source.ts'
import { openKeptTries } from './kept-tries.ts'

/**
 * Builds the tries of a ledger whose database has none: a new ledger, an imported one, or one of an earlier version of this
 * program. The build proceeds by ranges of paths, so that each page is written once and memory holds one range at a time. An
 * interrupted build resumes after the last finished range, because no slot is committed before the build is complete.
 */

/** Dependencies and limits of a build. */
export interface BuildDeps {
  readonly store: Pick<Store, 'read' | 'write'>
  readonly term: number
  /** Aborts the build between two reads or writes. */
  readonly ended: AbortSignal
  onProgress(progress: BuildProgress): void
  /** Average maximum number of outputs in one range. Each output takes about 200 bytes of memory. */
  readonly outputsPerRange?: number
}

/** Number of outputs in the tries, and of all outputs. */
export type BuildProgress = Pick<Starting, 'done' | 'of'>

/** Builds the missing parts of the tries at the end of the newest slot. Resolves to true when the tries are complete. */
export async function buildTries(deps: BuildDeps): Promise<Result<boolean, LeaseLost>> {
  const { read, write } = deps.store
  const { slot } = await read.latestMilestone()
  const state = await read.trieState()
  let built = state?.slot === slot ? state.built : 0
  if (built === allBuilt) return ok(true)
  if (state?.slot !== slot) {
    const begun = await write.buildTries(deps.term, { slot, built, isNew: true, put: [] })
    if (!begun.ok) return begun
  }
  const count = await read.unspentCount()
  const { outputsPerRange = usualOutputsPerRange } = deps
  const step = Math.max(Math.floor((firstBytes * outputsPerRange) / Math.max(count, 1)), 1)
  const passes = Math.ceil((firstBytes - built) / step)
  // Each pass reads all outputs, and selects the outputs of its range.
  let done = 0
  const onRead = (outputs: number) => {
    done += outputs
    deps.onProgress({ done: Math.min(Math.floor(done / passes), count), of: count })
  }
  onRead(0)
  while (built < firstBytes) {
    const to = Math.min(built + step, firstBytes)
    const entries = await outputEntries(deps, { slot, from: built, to, onRead })
    const written = await writeTrie(deps, 'outputs', entries, { slot, built: to, former: built })
    if (!written.ok || !written.value) return written
    built = to
  }
  const entries = await accountEntries(deps)
  return writeTrie(deps, 'accounts', entries, { slot, built: allBuilt, former: built })
}

/** Number of values of the first byte of a path. */
const firstBytes = 256

const usualOutputsPerRange = 400_000

interface PathRange {
  readonly slot: SlotIndex
  /** The first bytes of paths, from `from` (inclusive) to `to` (exclusive). */
  readonly from: number
  readonly to: number
  onRead(outputs: number): void
}

async function outputEntries(
  { store, ended }: BuildDeps,
  { slot, onRead, ...range }: PathRange,
): Promise<TrieEntry[]> {
  const entries: TrieEntry[] = []
  const turns = createTurns()
  for (let after: OutputId | undefined; !ended.aborted; ) {
    const page = await store.read.unspentPage(after)
    after = page.at(-1)?.outputId
    if (after === undefined) break
    const created = page.filter(({ bookedSlot }) => bookedSlot <= slot)
    const ids = created.map(({ outputId }) => outputId)
    let hashed = 0
    for (const [key, value] of outputTrieChanges({ created: ids, consumed: [] })) {
      const entry = value && trieEntryWithin(range, key, value)
      if (entry !== undefined) entries.push(entry)
      if (++hashed % hashesPerTurn === 0) await turns.pass()
    }
    onRead(created.length)
    await turns.pass()
  }
  return entries
}

/** This many hashes take less than a millisecond. */
const hashesPerTurn = 256

async function accountEntries({ store, ended }: BuildDeps): Promise<TrieEntry[]> {
  const entries: TrieEntry[] = []
  const turns = createTurns()
  for (let after: AccountId | undefined; !ended.aborted; ) {
    const page = await store.read.newestAccounts(after)
    after = page.at(-1)?.accountId
    if (after === undefined) break
    const kept = page.filter(({ entry }) => entry !== undefined)
    const changes = accountTrieChanges(kept.map(({ accountId, entry }) => [accountId, entry]))
    for (const [key, value] of changes) entries.push(trieChange(key, value))
    await turns.pass()
  }
  return entries
}

/** Writes the pages of entries. The last write records `built`; the earlier writes record `former`. */
async function writeTrie(
  { store, term, ended }: BuildDeps,
  trie: 'outputs' | 'accounts',
  entries: readonly TrieEntry[],
  {
    slot,
    built,
    former,
  }: { readonly slot: SlotIndex; readonly built: number; readonly former: number },
): Promise<Result<boolean, LeaseLost>> {
  if (ended.aborted) return ok(false)
  const tries = openKeptTries(store.read, 0)
  await tries.change(trie, entries)
  const { put } = tries.changes()
  for (let at = 0; at === 0 || at < put.length; at += pagesPerWrite) {
    if (ended.aborted) return ok(false)
    const pages: readonly TriePage[] = put.slice(at, at + pagesPerWrite)
    const isLast = at + pagesPerWrite >= put.length
    const build = { slot, built: isLast ? built : former, isNew: false, put: pages }
    const written = await store.write.buildTries(term, build)
    if (!written.ok) return written
  }
  return ok(true)
}

/** The lease is renewed between two writes. */
const pagesPerWrite = 1_000
