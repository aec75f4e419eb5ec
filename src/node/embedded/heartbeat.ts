import type { Log } from '../../lib/log.ts'
import type { Block } from '../../protocol/block.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Store } from '../../store/contract.ts'
import { createFailureLog } from '../../store/failure-log.ts'
import { blockKind } from '../block-kind.ts'
import { incomingBlock } from './inbox.ts'
import { buildOwnBlocks, checkedOwnBlock, type OwnBlocksDeps } from './own-blocks.ts'

/**
 * Issues the blocks of the writer's own account: one per slot, because clients refuse parents that are minutes old, and candidacy
 * announcements.
 */

/** Dependencies of the heartbeat, in addition to the dependencies of building blocks. */
export interface HeartbeatDeps extends OwnBlocksDeps {
  readonly store: Pick<Store, 'read' | 'write'>
  readonly log: Pick<Log, 'error'>
  /** The current slot. */
  readonly slot: () => SlotIndex
  /** Called after blocks are written to the inbox. */
  readonly onAccepted: () => void
}

/** Issues the blocks of the writer's own account. */
export interface Heartbeat {
  /** Issues the blocks of this slot, unless they are issued already. */
  issue(term: number): void
  /** Resolves when no block is being issued. */
  settled(): Promise<void>
}

/** The last blocks of the account. */
interface Issued {
  readonly term: number
  readonly slot: SlotIndex
  /** The slot of the last announcement; 0 when none is known. */
  readonly announcedSlot: SlotIndex
}

/** Creates the heartbeat of an account. */
export function createHeartbeat(deps: HeartbeatDeps): Heartbeat {
  const { store, network, issuer } = deps
  const logFailure = createFailureLog(deps.log)
  let issuing = Promise.resolve()
  let issued: Issued | undefined

  async function issue(term: number): Promise<void> {
    const slot = deps.slot()
    const last = await lastIssued(term)
    if (slot <= last.slot) return
    issued = { ...last, slot }
    const built = await buildOwnBlocks(deps, slot, last.announcedSlot)
    if (!built.ok) {
      logFailure('heartbeat-failed', built.error.code)
      return
    }
    const blocks = built.value
    const isAnnouncing = blocks.some(({ body }) => blockKind(body) === 'candidacy')
    if (isAnnouncing) issued = { ...issued, announcedSlot: slot }
    await write(term, blocks)
  }

  /** The last blocks, also of earlier terms: a validator that issues a second block in a slot is fined. */
  async function lastIssued(term: number): Promise<Issued> {
    if (issued?.term === term) return issued
    // By the issuer: any number of blocks of others may be newer, in the same slot too.
    const { accountId: issuerId } = issuer
    const [[newest] = [], [announcement] = []] = await store.read.blockPages(
      [
        { ...anywhere, where: { issuerId } },
        { ...anywhere, where: { issuerId, kinds: ['candidacy'] } },
      ],
      { order: 'descending', limit: 1 },
    )
    return { term, slot: newest?.slot ?? 0, announcedSlot: announcement?.slot ?? 0 }
  }

  /** Writes nothing when the term has ended. */
  async function write(term: number, blocks: readonly Block[]): Promise<void> {
    const incoming = blocks.map((block) =>
      incomingBlock(network.parameters, checkedOwnBlock(network, block)),
    )
    await store.write.acceptOwnBlocks(term, incoming)
    deps.onAccepted()
  }

  return {
    issue: (term) => {
      // A failure is not retried: the next slot gets its own blocks.
      issuing = issuing
        .then(() => issue(term))
        .catch((failure) => logFailure('heartbeat-failed', failure))
    },
    settled: () => issuing,
  }
}

/** All positions in the order of slots, issuing times and places in the inbox. */
const anywhere = { above: [-1, -1n, 0], below: [Number.MAX_SAFE_INTEGER, 0n, 0] } as const
