import { setTimeout as delay } from 'node:timers/promises'
import type { CommittedSlot } from '../ledger/commit-slot.ts'
import type { Log } from '../lib/log.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { Store } from '../store/contract.ts'
import { isStoreFault } from '../store/faults.ts'
import {
  committedSlot,
  loadRecentCommitments,
  type RecentCommitments,
} from './recent-commitments.ts'

/** The newest commitments of the ledger as this process knows them, whichever process commits. */
export interface Commitments extends RecentCommitments {
  /** Reads them anew, and gives the newest. */
  reload(): Promise<CommittedSlot>
  close(): Promise<void>
}

/** What following commitments needs. */
export interface CommitmentsDeps {
  readonly store: Pick<Store, 'read' | 'listen'>
  readonly parameters: ProtocolParameters
  readonly log: Pick<Log, 'error'>
  /** Whether this process commits by itself, and so need not be told. */
  readonly isWriting: () => boolean
}

/** Reads the newest commitments of a ledger that is founded, and follows those to come. */
export async function openCommitments(deps: CommitmentsDeps): Promise<Commitments> {
  const { read } = deps.store
  const kept = 2 * deps.parameters.maxCommittableAge + 2
  let recent = await loadRecentCommitments(read, kept)
  const closing = new AbortController()
  let nap = new AbortController()
  const listening = deps.store.listen(({ topic }) => {
    if (topic === 'LOG_GREW') nap.abort()
  })
  const finished = follow()

  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      // What was told since the last look ends the nap before it begins.
      await delay(tickMs, undefined, { signal: nap.signal }).catch(() => {})
      nap = new AbortController()
      if (deps.isWriting() || closing.signal.aborted) continue
      try {
        await catchUp()
      } catch (failure) {
        // The next tick looks again.
        if (!isStoreFault(failure)) deps.log.error('commitments-unread', { error: failure })
      }
    }
  }

  async function catchUp(): Promise<void> {
    const { commitment, commitmentId } = recent.newest()
    // With the newest that is known, to see that the database under this process is still the same.
    const [known, ...rows] = await read.milestonesAfter(commitment.slot - 1, kept + 1)
    // Another history, or so far behind that nothing of what is kept would remain.
    const isOther = known?.commitmentId !== commitmentId || rows.length === kept
    const next = isOther ? await loadRecentCommitments(read, kept) : recent
    // Who has begun to write meanwhile has read them anew, and may have committed more.
    if (deps.isWriting()) return
    if (!isOther) for (const row of rows) next.add(committedSlot(row))
    recent = next
  }

  async function reload(): Promise<CommittedSlot> {
    recent = await loadRecentCommitments(read, kept)
    return recent.newest()
  }

  return {
    add: (committed) => recent.add(committed),
    newest: () => recent.newest(),
    upTo: (slot) => recent.upTo(slot),
    has: (id) => recent.has(id),
    reload,
    close: async () => {
      closing.abort()
      nap.abort()
      await listening.close()
      await finished
    },
  }
}

/** How long a lost word may cost. */
const tickMs = 1_000
