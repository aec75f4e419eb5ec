import type { Log } from '../../lib/log.ts'
import type { Block } from '../../protocol/block.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Store } from '../../store/contract.ts'
import { createFailureLog } from '../../store/failure-log.ts'
import { blockKind } from '../block-kind.ts'
import { incomingBlock } from './inbox.ts'
import { buildOwnBlocks, checkedOwnBlock, type OwnBlocksDeps } from './own-blocks.ts'

/** The blocks of the writer's own account: one a slot, for clients refuse parents that are minutes old, and its candidacies. */

/** What the heartbeat needs beside what building the blocks needs. */
export interface HeartbeatDeps extends OwnBlocksDeps {
  readonly store: Pick<Store, 'read' | 'write'>
  readonly log: Pick<Log, 'error'>
  /** The slot of this moment. */
  readonly slot: () => SlotIndex
  /** Called after blocks were written to the inbox. */
  readonly onAccepted: () => void
}

/** Issues the blocks of the writer's own account. */
export interface Heartbeat {
  /** Issues the blocks of this slot, unless they are issued already. */
  issue(term: number): void
  /** Resolves when no block is being issued. */
  settled(): Promise<void>
}

/** What the account issued last. */
interface Issued {
  readonly term: number
  readonly slot: SlotIndex
  /** Of the last announcement, 0 where none is known. */
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
    const blocks = await buildOwnBlocks(deps, slot, last.announcedSlot)
    const isAnnouncing = blocks.some(({ body }) => blockKind(body) === 'candidacy')
    if (isAnnouncing) issued = { ...issued, announcedSlot: slot }
    await write(term, blocks)
  }

  /** A validator that issues a second block in a slot is fined, also in another term. */
  async function lastIssued(term: number): Promise<Issued> {
    if (issued?.term === term) return issued
    const blocks = await store.read.recentBlocks(blocksSearched)
    const own = blocks.filter(({ issuerId }) => issuerId === issuer.accountId)
    const announcement = own.find(({ kind }) => kind === 'candidacy')
    return { term, slot: own[0]?.slot ?? 0, announcedSlot: announcement?.slot ?? 0 }
  }

  /** Writes nothing when the term is over. */
  async function write(term: number, blocks: readonly Block[]): Promise<void> {
    const incoming = blocks.map((block) =>
      incomingBlock(network.parameters, checkedOwnBlock(network, block)),
    )
    await store.write.acceptOwnBlocks(term, incoming)
    deps.onAccepted()
  }

  return {
    issue: (term) => {
      // After a failure the next slot has blocks of its own.
      issuing = issuing
        .then(() => issue(term))
        .catch((failure) => logFailure('heartbeat-failed', failure))
    },
    settled: () => issuing,
  }
}

/** The newest blocks among which the first issue of a term looks for the account's own. */
const blocksSearched = 1_000
