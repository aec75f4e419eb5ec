import type { Log } from '../../lib/log.ts'
import type { Block } from '../../protocol/block.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { StoreReader } from '../../store/contract.ts'
import { isStoreFault } from '../../store/faults.ts'
import { blockKind } from '../block-kind.ts'
import type { IssuerAccount } from './issuer.ts'

/** The blocks of the writer's own account: one a slot, for clients refuse parents that are minutes old, and its candidacies. */

/** What the heartbeat needs. */
export interface HeartbeatDeps {
  readonly read: Pick<StoreReader, 'recentBlocks'>
  readonly log: Pick<Log, 'error'>
  readonly issuer: IssuerAccount
  /** The slot of this moment. */
  readonly slot: () => SlotIndex
  /**
   * Builds the blocks of a slot; a validator's counts for its rewards, and another one announces its candidacy, if it has not
   * done so since the slot that is named.
   */
  readonly build: (slot: SlotIndex, announcedSlot: SlotIndex) => Promise<readonly Block[]>
  /** Keeps blocks under the term; they are kept by nobody whose term is over. */
  readonly keep: (term: number, blocks: readonly Block[]) => Promise<void>
}

/** A heartbeat that beats when it is told to. */
export interface Heartbeat {
  /** Issues the block of this slot, unless it is issued already. */
  beat(term: number): void
  /** Resolves when no block is under way. */
  settled(): Promise<void>
}

/** What the account issued last. */
interface Issued {
  readonly term: number
  readonly slot: SlotIndex
  /** Of the last announcement, 0 where none is known. */
  readonly announcedSlot: SlotIndex
}

/** A heart that has not beaten. */
export function createHeartbeat(deps: HeartbeatDeps): Heartbeat {
  let beating = Promise.resolve()
  let issued: Issued | undefined

  async function issue(term: number): Promise<void> {
    try {
      const slot = deps.slot()
      const last = await lastIssued(term)
      if (slot <= last.slot) return
      issued = { ...last, slot }
      const blocks = await deps.build(slot, last.announcedSlot)
      const isAnnouncing = blocks.some(({ body }) => blockKind(body) === 'candidacy')
      if (isAnnouncing) issued = { ...issued, announcedSlot: slot }
      await deps.keep(term, blocks)
    } catch (failure) {
      // The next slot is another occasion.
      if (!isStoreFault(failure)) deps.log.error('heartbeat-failed', { error: failure })
    }
  }

  /** A validator that issues a second block in a slot is fined, also in another term. */
  async function lastIssued(term: number): Promise<Issued> {
    if (issued?.term === term) return issued
    const blocks = await deps.read.recentBlocks(blocksSearched)
    const own = blocks.filter(({ issuerId }) => issuerId === deps.issuer.accountId)
    const announcement = own.find(({ kind }) => kind === 'candidacy')
    return { term, slot: own[0]?.slot ?? 0, announcedSlot: announcement?.slot ?? 0 }
  }

  return {
    beat: (term) => {
      beating = beating.then(() => issue(term))
    },
    settled: () => beating,
  }
}

/** The blocks among which the last one is looked for at the beginning of a term. */
const blocksSearched = 1_000
