import { present } from '../lib/assert.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import type { RawTx } from './client.ts'
import type { HistoryFacts } from './contract/history.ts'
import type { LogTip } from './rows.ts'
import type { RawWriting } from './sql/statements.ts'

/**
 * Compares the history of the database with the history that this process has seen, at the beginning of every writing transaction. After
 * a failover to a server that lacks rows, or after the database was replaced by an older copy, nothing is written until the operator
 * accepts the loss (`ledger-gateway restore --accept`), which gives the log another id.
 */

/** The database lacks rows that this process, or another process on the database, has seen. Nothing was written. */
export class HistoryRewound extends Error {
  constructor(slot: SlotIndex, isOwn: boolean) {
    const lacking = isOwn
      ? `lacks rows that this process has seen up to slot ${slot}`
      : `was found to lack rows that a process had seen up to slot ${slot}`
    super(
      `the database ${lacking}; restore it, or accept the loss: ledger-gateway restore --accept`,
    )
    this.name = 'HistoryRewound'
  }
}

/** The history that a process has seen of its database. */
export interface HistoryGuard {
  /** Records a tip that was read or committed. */
  recordTip(tip: Pick<LogTip, 'logId' | 'slot' | 'commitmentId'>): void
  /** Records that all inbox positions before `nextInbox` are used. */
  recordInbox(nextInbox: number): void
  /**
   * Begins a writing transaction. Resolves to the reason why it must not write, which the transaction has then recorded for other
   * processes; otherwise to `undefined`.
   */
  begin(writing: RawWriting): Promise<HistoryRewound | undefined>
  /** Whether the last transaction was refused. */
  isRewound(): boolean
}

interface Seen extends Pick<LogTip, 'logId' | 'slot' | 'commitmentId'> {
  readonly nextInbox: number
}

/** Creates the guard of a process that has not seen any history yet. */
export function createHistoryGuard(): HistoryGuard {
  let seen: Seen | undefined
  let isRewound = false

  function recordTip({
    logId,
    slot,
    commitmentId,
  }: Pick<LogTip, 'logId' | 'slot' | 'commitmentId'>) {
    const isOther = seen?.logId !== logId
    if (!isOther && seen !== undefined && slot <= seen.slot) return
    seen = { logId, slot, commitmentId, nextInbox: isOther ? 0 : (seen?.nextInbox ?? 0) }
  }

  function recordInbox(nextInbox: number): void {
    if (seen !== undefined && nextInbox > seen.nextInbox) seen = { ...seen, nextInbox }
  }

  async function begin({ tx, sql }: RawWriting): Promise<HistoryRewound | undefined> {
    // Tips that are seen during this statement may be newer than its result.
    const known = seen
    const facts = await sql.beginWritingAfter(tx, known?.slot ?? 0)
    const refused = judge(facts, known)
    isRewound = refused !== undefined
    if (refused === undefined) recordInbox(Number(facts.nextInbox ?? 0))
    else if (facts.rewoundFrom === null) await note(tx, present(known, 'what was seen').slot)
    return refused
  }

  function judge(facts: HistoryFacts, known: Seen | undefined): HistoryRewound | undefined {
    const { logId, rewoundFrom, nextInbox, commitmentId } = facts
    if (logId === null) return undefined
    if (rewoundFrom !== null) return new HistoryRewound(Number(rewoundFrom), false)
    if (known === undefined) return undefined
    if (known.logId !== logId) {
      // The operator has accepted the loss, or has put another log in place.
      if (seen?.logId === known.logId) seen = undefined
      return undefined
    }
    const isThere = commitmentId === known.commitmentId && Number(nextInbox ?? 0) >= known.nextInbox
    return isThere ? undefined : new HistoryRewound(known.slot, true)
  }

  return { recordTip, recordInbox, begin, isRewound: () => isRewound }
}

async function note(tx: RawTx, slot: SlotIndex): Promise<void> {
  await tx.$executeRawUnsafe(`UPDATE published_tip SET "rewoundFrom" = ${slot}`)
}
