import { LRUCache } from 'lru-cache'
import type { GuardedClock } from '../../lib/guarded-clock.ts'
import type { Hex } from '../../lib/hex.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { Block } from '../../protocol/block.ts'
import type { BlockId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { slotOfTime } from '../../protocol/slots.ts'
import type { Payload } from '../../protocol/transaction.ts'
import type { LeaseLost, Store } from '../../store/contract.ts'
import { watchClock } from '../clock-watch.ts'
import { openCommitments } from '../embedded/commitments.ts'
import { type EnterError, enterDatabase } from '../embedded/enter.ts'
import type { GenesisPlan } from '../embedded/genesis.ts'
import { buildBlock, type IssuerAccount } from '../embedded/issuer.ts'
import { type LeaderElection, type LeaderTerm, openLeaderElection } from '../leader-election.ts'
import type {
  CheckedBlock,
  FollowingStatus,
  Issuance,
  IssuerNotConfigured,
  LedgerSource,
  LedgerUnavailable,
  SourceStatus,
  SubmitRefused,
} from '../source.ts'
import { follow, type Progress } from './follow.ts'
import { forwardBlock } from './forward-block.ts'
import { createForwardedBlocks } from './forwarded-blocks.ts'
import { genesisOfNode, type InitializeError, networkOfNode } from './initialize.ts'
import { type Nodes, openNodes } from './nodes.ts'
import { info, issuance as offer } from './questions.ts'
import { createUpstreamNode } from './upstream-node.ts'

/** The ledger of a node behind: blocks are handed on to it, and what it commits is followed into our log. */

/** What following a node needs. */
export interface UpstreamDeps {
  readonly store: Store
  readonly clock: GuardedClock
  readonly log: Log
  /** Names this process to others on the same database. */
  readonly holder: string
  /** Told of the newest position of the log after every commit. */
  readonly onCommitted: (seq: number) => void
}

/** Which nodes, and what of them is checked. */
export interface UpstreamOptions {
  /** Addresses without a slash at their end, in the order of preference. */
  readonly urls: readonly string[]
  /** Whether each output is held against its proof. */
  readonly withProofs: boolean
  /** The genesis of a network whose nodes do not tell it. */
  readonly genesis: GenesisPlan | undefined
  /** For payloads that come alone. */
  readonly issuer: IssuerAccount | undefined
}

/** Why the ledger could not be opened; nothing was written. */
export type UpstreamError = EnterError | InitializeError

/** Opens the ledger of a database, founding it from what the nodes tell when it is new, and stands for its lease to follow. */
export async function openUpstream(
  deps: UpstreamDeps,
  options: UpstreamOptions,
): Promise<Result<LedgerSource, UpstreamError>> {
  const { store, clock, log } = deps
  const { urls, withProofs, issuer } = options
  const nodes = openNodes({ urls, log })
  const entered = await enterDatabase(deps, {
    networkName: await nameTold(nodes),
    keptBy: 'NODES',
    genesis: () => genesisOfNode(nodes, options.genesis),
  })
  if (!entered.ok) {
    nodes.close()
    return entered
  }
  const { network, lease } = entered.value
  const { parameters } = network
  let isClosing = false
  let progress: Progress = unlooked
  /** A standby that took over, and has not come to the tip of a node yet. */
  let isTakingOver = lease === undefined
  let standing: LeaderElection | undefined
  const commitments = await openCommitments({ store, parameters, log, isWriting })
  const handedOn = createForwardedBlocks(handedOnBytes)
  const committedSlot = () => commitments.newest().commitment.slot
  const clockWatch = watchClock({ clock, log, parameters, newestSlot: committedSlot })
  const proven = new LRUCache<TransactionId, Hex>({ max: provenTransactions })
  const { write } = store
  const node = createUpstreamNode({
    nodes,
    network,
    write,
    log,
    forwarded: handedOn,
    proven,
    committedSlot,
  })
  standing = openLeaderElection(
    { ...deps, read: store.read, write: store.write, lead: reign },
    lease,
  )
  const listening = store.listen(({ topic }) => {
    if (topic === 'LEASE_FREED') standing?.look()
  })

  function isWriting(): boolean {
    return standing?.position().role === 'WRITER'
  }

  async function reign(term: LeaderTerm): Promise<LeaseLost | undefined> {
    const lost = await follow(
      {
        store,
        nodes,
        network,
        log,
        withProofs,
        proven,
        loadCommitted: commitments.reload,
        onCommitted: (slots, seq) => {
          for (const slot of slots) commitments.add(slot)
          deps.onCommitted(seq)
        },
        onProgress: (next) => {
          progress = next
          isTakingOver &&= next.state === 'CATCHING_UP' && next.isNodeHealthy
        },
        onDoubted: () => {
          isTakingOver = false
        },
      },
      term,
    )
    // Whose following stopped, or found no node, says so until the first look of his next term.
    isTakingOver ||= isFollowing()
    progress = unlooked
    return lost
  }

  /** Behind a node that lags, we lag as much. */
  function isFollowing(): boolean {
    return progress.state === 'FOLLOWING' && progress.isNodeHealthy
  }

  /** Whether what is committed is young enough for whoever does not follow by himself: nothing else is known to him. */
  function isYoung(): boolean {
    const age = slotNow() - committedSlot()
    return age <= allowedAges * parameters.maxCommittableAge
  }

  function slotNow(): SlotIndex {
    return slotOfTime(parameters, clock.nowNs())
  }

  /**
   * A standby that takes over is as well as it was a moment before: it serves the same, and hands blocks on as it did. That
   * ends with the first look that finds no node, or one that is not to be followed.
   */
  function isWell(): boolean {
    if (standing?.isSound() !== true || unavailable() !== undefined) return false
    if (!isWriting()) return isYoung()
    return isFollowing() || (isTakingOver && isYoung() && nodes.awake().length > 0)
  }

  function unavailable(): LedgerUnavailable | undefined {
    const code = 'LEDGER_UNAVAILABLE'
    if (isClosing) return { code, reason: 'CLOSING' }
    if (following().state === 'STOPPED') return { code, reason: 'NODE_CONTRADICTED' }
    if (clock.hasLeapt()) return { code, reason: 'CLOCK_LEAPT' }
    return clockWatch.isBehind() ? { code, reason: 'CLOCK_BEHIND' } : undefined
  }

  async function submit(block: CheckedBlock): Promise<Result<BlockId, SubmitRefused>> {
    const refused = unavailable()
    if (refused !== undefined) return err(refused)
    if (handedOn.block(block.blockId) !== undefined) return ok(block.blockId)
    const taken = await forwardBlock({ nodes, log }, block)
    if (taken.ok) handedOn.add(block)
    return taken
  }

  async function issuance(): Promise<Result<Issuance, LedgerUnavailable>> {
    const told = await nodes.ask(offer())
    if (told.ok && told.value !== undefined) return ok(told.value)
    const isUnreadable = !told.ok && told.error.code === 'NODE_ANSWER_UNREADABLE'
    const reason = isUnreadable ? 'NODE_ANSWER_UNREADABLE' : 'NODES_AWAY'
    return err({ code: 'LEDGER_UNAVAILABLE', reason })
  }

  async function issue(
    payload: Payload | undefined,
  ): Promise<Result<Block, IssuerNotConfigured | LedgerUnavailable>> {
    if (issuer === undefined) return err({ code: 'ISSUER_NOT_CONFIGURED' })
    const offered = await issuance()
    if (!offered.ok) return offered
    return ok(buildBlock({ clock, network }, issuer, { issuance: offered.value, payload }))
  }

  function following(): FollowingStatus {
    const own = isWriting() ? progress : ({ ...nothingAsked, state: 'STANDBY' } as const)
    return { ...own, withProofs }
  }

  function status(): SourceStatus {
    const { commitmentId, commitment } = commitments.newest()
    return {
      ...(standing?.position() ?? { role: 'STANDBY', term: 0 }),
      isHealthy: isWell(),
      unavailable: unavailable()?.reason,
      latestCommitmentId: commitmentId,
      latestCommittedSlot: commitment.slot,
      slot: slotNow(),
      following: following(),
    }
  }

  async function close(): Promise<void> {
    isClosing = true
    nodes.close()
    await listening.close()
    await standing?.close()
    clockWatch.close()
    await commitments.close()
  }

  return ok({ network, submit, unavailable, issuance, issue, status, node, close })
}

const nothingAsked = {
  node: undefined,
  isNodeHealthy: false,
  newestSlot: undefined,
  contradiction: undefined,
  unreadable: undefined,
}

const unlooked: Progress = { ...nothingAsked, state: 'CATCHING_UP' }

/** The blocks that are remembered, in bytes of all together. */
const handedOnBytes = 33_554_432

/** Transactions whose outputs can be proven to others without asking: some 200 bytes each. */
const provenTransactions = 100_000

/** A node finalizes a slot some time after it committed it, and at the latest before nobody can refer to it any more. */
const allowedAges = 2

/**
 * The name of the network that the nodes stand in. Without an answer a database is served as it is, for each node is asked
 * again before it is followed.
 */
async function nameTold(nodes: Nodes): Promise<string | undefined> {
  const facts = await nodes.ask(info())
  const told = facts.ok ? facts.value : undefined
  return told && networkOfNode(told)?.parameters.networkName
}
