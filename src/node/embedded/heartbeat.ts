import type { Log } from '../../lib/log.ts'
import type { Block } from '../../protocol/block.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { isStoreFault } from '../../store/away.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { IssuerAccount } from './issuer.ts'

/** A block a slot by the writer's own account: clients refuse parents that are minutes old. */

/** What the heartbeat needs. */
export interface HeartbeatDeps {
  readonly read: Pick<StoreReader, 'recentBlocks'>
  readonly log: Pick<Log, 'error'>
  readonly issuer: IssuerAccount
  /** The slot of this moment. */
  readonly slot: () => SlotIndex
  /** Builds a block; a validator's counts for its rewards. */
  readonly build: (slot: SlotIndex) => Promise<Block>
  /** Keeps a block under the term; it is kept by nobody whose term is over. */
  readonly keep: (term: number, block: Block) => Promise<void>
}

/** A heartbeat that beats when it is told to. */
export interface Heartbeat {
  /** Issues the block of this slot, unless it is issued already. */
  beat(term: number): void
  /** Resolves when no block is under way. */
  settled(): Promise<void>
}

/** A heart that has not beaten. */
export function createHeartbeat(deps: HeartbeatDeps): Heartbeat {
  let beating = Promise.resolve()
  let beaten: { readonly term: number; readonly slot: SlotIndex } | undefined

  async function issue(term: number): Promise<void> {
    try {
      const slot = deps.slot()
      if (slot <= (await lastBeat(term))) return
      beaten = { term, slot }
      await deps.keep(term, await deps.build(slot))
    } catch (failure) {
      // The next slot is another occasion.
      if (!isStoreFault(failure)) deps.log.error('heartbeat-failed', { error: failure })
    }
  }

  /** The slot of the last one. A validator that issues a second one in a slot is fined, also in another term. */
  async function lastBeat(term: number): Promise<SlotIndex> {
    if (beaten?.term === term) return beaten.slot
    const blocks = await deps.read.recentBlocks(blocksSearched)
    return blocks.find(({ issuerId }) => issuerId === deps.issuer.accountId)?.slot ?? 0
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
