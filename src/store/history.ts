import { present } from '../lib/assert.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import type { RawTx } from './client.ts'
import type { HistoryFacts } from './history-contract.ts'
import type { LogTip } from './rows.ts'
import type { RawWriting } from './sql/statements.ts'

/**
 * Compares the history of the database with what this process has seen of it, at the beginning of every writing transaction: after
 * a failover to a server that lacks something, or after an older copy was put in its place, nothing is written until the
 * operator has accepted that (`ledger-gateway restore --accept`), which gives the log another id.
 */

/** The database lacks what this process, or another one on it, has seen; nothing was written. */
export class HistoryRewound extends Error {
  constructor(slot: SlotIndex, isOwn: boolean) {
    const lacking = isOwn
      ? `lacks what this process has seen up to slot ${slot}`
      : `was found to lack what a process had seen up to slot ${slot}`
    super(`the database ${lacking}; restore it, or accept that: ledger-gateway restore --accept`)
    this.name = 'HistoryRewound'
  }
}

/** What a process knows of the history of its database. */
export interface HistoryGuard {
  /** Takes in a tip that was read or committed. */
  saw(tip: Pick<LogTip, 'logId' | 'slot' | 'commitmentId'>): void
  /** Takes in that blocks have places of the inbox before this one. */
  sawInbox(nextInbox: number): void
  /** Begins a writing transaction; gives why it must not write, which the transaction has noted for other processes. */
  begin(writing: RawWriting): Promise<HistoryRewound | undefined>
  /** Whether the last transaction was refused. */
  isRewound(): boolean
}

interface Seen extends Pick<LogTip, 'logId' | 'slot' | 'commitmentId'> {
  readonly nextInbox: number
}

/** A process that has seen nothing yet. */
export function createHistoryGuard(): HistoryGuard {
  let seen: Seen | undefined
  let isRewound = false

  function saw({ logId, slot, commitmentId }: Pick<LogTip, 'logId' | 'slot' | 'commitmentId'>) {
    const isOther = seen?.logId !== logId
    if (!isOther && seen !== undefined && slot <= seen.slot) return
    seen = { logId, slot, commitmentId, nextInbox: isOther ? 0 : (seen?.nextInbox ?? 0) }
  }

  function sawInbox(nextInbox: number): void {
    if (seen !== undefined && nextInbox > seen.nextInbox) seen = { ...seen, nextInbox }
  }

  async function begin({ tx, sql }: RawWriting): Promise<HistoryRewound | undefined> {
    // What is seen while the answer is on its way may be newer than the answer.
    const known = seen
    const facts = await sql.beginWritingAfter(tx, known?.slot ?? 0)
    const refused = judge(facts, known)
    isRewound = refused !== undefined
    if (refused === undefined) sawInbox(Number(facts.nextInbox ?? 0))
    else if (facts.rewoundFrom === null) await note(tx, present(known, 'what was seen').slot)
    return refused
  }

  function judge(facts: HistoryFacts, known: Seen | undefined): HistoryRewound | undefined {
    const { logId, rewoundFrom, nextInbox, commitmentId } = facts
    if (logId === null) return undefined
    if (rewoundFrom !== null) return new HistoryRewound(Number(rewoundFrom), false)
    if (known === undefined) return undefined
    if (known.logId !== logId) {
      // Another log: the operator has accepted it, or put it there.
      if (seen?.logId === known.logId) seen = undefined
      return undefined
    }
    const isThere = commitmentId === known.commitmentId && Number(nextInbox ?? 0) >= known.nextInbox
    return isThere ? undefined : new HistoryRewound(known.slot, true)
  }

  return { saw, sawInbox, begin, isRewound: () => isRewound }
}

async function note(tx: RawTx, slot: SlotIndex): Promise<void> {
  await tx.$executeRawUnsafe(`UPDATE published_tip SET "rewoundFrom" = ${slot}`)
}
