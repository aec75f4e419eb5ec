import type { CommittedSlot } from '../ledger/commit-slot.ts'
import type { Log } from '../lib/log.ts'
import { createSignal } from '../lib/signal.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { Store } from '../store/contract.ts'
import { createFailureLog } from '../store/failure-log.ts'
import {
  committedSlot,
  loadRecentCommitments,
  type RecentCommitments,
  retainedSlots,
} from './recent-commitments.ts'

/** The newest commitments of the ledger, committed by this or another process. */
export interface Commitments extends RecentCommitments {
  /** Reloads the commitments from the database, and returns the newest one. */
  reload(): Promise<CommittedSlot>
  close(): Promise<void>
}

export interface CommitmentsDeps {
  readonly store: Pick<Store, 'read' | 'listen'>
  readonly parameters: ProtocolParameters
  readonly log: Pick<Log, 'error'>
  /** Whether this process is the writer. The writer already knows every commitment of the log. */
  readonly isWriting: () => boolean
}

/** Reads the newest commitments of an initialized ledger, and follows new ones. */
export async function openCommitments(deps: CommitmentsDeps): Promise<Commitments> {
  const { read } = deps.store
  const kept = retainedSlots(deps.parameters)
  let recent = await loadRecentCommitments(read, kept)
  const closing = new AbortController()
  const { signal } = closing
  const grown = createSignal()
  const logFailure = createFailureLog(deps.log)
  const listening = deps.store.listen(({ topic }) => {
    if (topic === 'LOG_GREW') grown.notify()
  })
  const finished = follow()

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      await grown.wait({ ms: tickMs, signal })
      if (deps.isWriting() || signal.aborted) continue
      // The next tick retries.
      await catchUp().catch((failure) => logFailure('commitments-unread', failure))
    }
  }

  async function catchUp(): Promise<void> {
    const { commitment, commitmentId } = recent.newest()
    // Reads the newest known commitment again, to check that the database still has the same history.
    const [known, ...rows] = await read.milestonesAfter(commitment.slot - 1, kept + 1)
    // The history differs, or there are so many new commitments that none of the cached ones would remain.
    const isOther = known?.commitmentId !== commitmentId || rows.length === kept
    const next = isOther ? await loadRecentCommitments(read, kept) : recent
    // A process that became the writer meanwhile has reloaded the commitments, and may have committed more.
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
      await listening.close()
      await finished
    },
  }
}

/** Milliseconds between two reads without a notification, in case a notification was lost. */
const tickMs = 1_000
