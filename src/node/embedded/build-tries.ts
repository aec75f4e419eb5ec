import { accountEntries, outputEntries } from '../../ledger/trie-entries.ts'
import { listEntries, type TrieEntry, trieChange } from '../../ledger/trie-page.ts'
import { createTriePass, firstBytes, type TriePass } from '../../ledger/trie-pass.ts'
import { ok, type Result } from '../../lib/result.ts'
import { createTurns } from '../../lib/turns.ts'
import type { AccountId, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import type { LeaseLost } from '../../store/contract/lease.ts'
import { allBuilt, type TriePage } from '../../store/contract/trie.ts'
import type { Store } from '../../store/contract.ts'
import type { StartupStep } from '../source.ts'
import { openStoredTries } from './stored-tries.ts'

/**
 * Builds the tries of a ledger whose database has none: a new or imported one, or one of an earlier version. Each pass reads all
 * unspent outputs and builds the range of paths for which memory has room, so that each page is written once. An interrupted
 * build resumes after the last range that was written, because no slot is committed before the end.
 */

/** Dependencies and limits of a build. */
export interface BuildDeps {
  readonly store: Pick<Store, 'read' | 'write'>
  readonly term: number
  /** Aborts the build between two reads or writes. */
  readonly ended: AbortSignal
  onProgress(progress: BuildProgress): void
  /** Outputs that a pass holds in memory, some 60 bytes each. */
  readonly outputsPerPass?: number
}

/** Number of outputs in the tries, and of all outputs. */
export type BuildProgress = Pick<StartupStep, 'done' | 'of'>

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
  const { outputsPerPass = defaultOutputsPerPass } = deps
  const passes = Math.ceil((count * (firstBytes - built)) / firstBytes / outputsPerPass)
  let done = 0
  const onRead = (outputs: number) => {
    done += outputs
    const part = Math.min(done / Math.max(passes, 1), count)
    deps.onProgress({ done: Math.floor(part), of: count })
  }
  onRead(0)
  while (built < firstBytes) {
    const pass = await readPass(deps, createTriePass(built, outputsPerPass), { slot, onRead })
    for (const { entries, to } of rangesOf(pass)) {
      const written = await writeTrie(deps, 'outputs', entries, { slot, built: to, former: built })
      if (!written.ok || !written.value) return written
      built = to
    }
  }
  const entries = await readAccounts(deps)
  return writeTrie(deps, 'accounts', entries, { slot, built: allBuilt, former: built })
}

/** 120 MB; ten million outputs take five passes. */
const defaultOutputsPerPass = 2_000_000

async function readPass(
  { store, ended }: BuildDeps,
  pass: TriePass,
  { slot, onRead }: { readonly slot: SlotIndex; onRead(outputs: number): void },
): Promise<TriePass> {
  for (let after: OutputId | undefined; !ended.aborted; ) {
    const page = await store.read.unspentPage(after)
    after = page.at(-1)?.outputId
    if (after === undefined) break
    const created = page.flatMap(({ bookedSlot, outputId }) => (bookedSlot <= slot ? outputId : []))
    await pass.addAll(outputEntries(created))
    onRead(created.length)
  }
  return pass
}

/** Divides the range of a pass into parts of a size that is written at once. */
function* rangesOf(
  pass: TriePass,
): Iterable<{ readonly entries: readonly TrieEntry[]; readonly to: number }> {
  let entries: TrieEntry[] = []
  for (const [firstByte, own] of pass.entries()) {
    // Not as arguments of one call: V8 refuses some 120,000 of them.
    for (const entry of listEntries(own)) entries.push(entry)
    if (entries.length < entriesPerWrite) continue
    yield { entries, to: firstByte + 1 }
    entries = []
  }
  yield { entries, to: pass.end() }
}

/** Entries take four times the memory of those in a pass while their pages are made. */
const entriesPerWrite = 100_000

async function readAccounts({ store, ended }: BuildDeps): Promise<TrieEntry[]> {
  const entries: TrieEntry[] = []
  const turns = createTurns()
  for (let after: AccountId | undefined; !ended.aborted; ) {
    const page = await store.read.newestAccounts(after)
    after = page.at(-1)?.accountId
    if (after === undefined) break
    for (const [key, value] of accountEntries(page)) entries.push(trieChange(key, value))
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
  const tries = openStoredTries(store.read, 0)
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
