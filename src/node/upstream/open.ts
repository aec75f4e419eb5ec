import { LRUCache } from 'lru-cache'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { BlockId, TransactionId } from '../../protocol/primitives.ts'
import { type EnterError, type Entered, enterDatabase } from '../enter-database.ts'
import type { GenesisPlan } from '../genesis.ts'
import { type IssuerAccount, issueBlock } from '../issuer.ts'
import type { LeaderTerm } from '../leader-election.ts'
import { type NodeDeps, openNodeCore } from '../node-core.ts'
import type { SnapshotUnfinished } from '../snapshot/snapshot-errors.ts'
import type {
  CheckedBlock,
  Issuance,
  LedgerSource,
  LedgerUnavailable,
  SubmitRefused,
  Submitted,
} from '../source.ts'
import { type BeginError, beginWithSnapshot } from './begin-with-snapshot.ts'
import { follow } from './follow.ts'
import { createFollowing } from './following.ts'
import { forwardBlock } from './forward-block.ts'
import { createForwardedBlocks } from './forwarded-blocks.ts'
import { genesisOfNode, type InitializeError, networkOfNode } from './initialize.ts'
import { blockMetadataOf, info, issuance as issuanceQuery } from './node-queries.ts'
import { type Nodes, openNodes } from './nodes.ts'
import { createUpstreamNode } from './upstream-node.ts'

/** Upstream mode: blocks are forwarded to nodes, and one process on the database writes the slots that the nodes commit. */

/** The nodes to follow, and how. */
export interface UpstreamOptions {
  /** URLs without a trailing slash, in order of preference. */
  readonly urls: readonly string[]
  /** Whether each output is checked against its proof. */
  readonly withProofs: boolean
  /** The genesis of a network whose nodes do not serve it. */
  readonly genesis: GenesisPlan | undefined
  /** URL of a gateway or path of a snapshot file that initializes a new database instead of the genesis. */
  readonly snapshot: string | undefined
  /** Signs blocks around payloads that clients send without a block. */
  readonly issuer: IssuerAccount | undefined
}

/** Why the ledger could not be opened. */
export type UpstreamError = EnterError | InitializeError | BeginError | SnapshotUnfinished

/**
 * Opens the ledger of a database, and enters the election of the process that follows the nodes. Initializes a new database from
 * the nodes.
 */
export async function openUpstream(
  deps: NodeDeps,
  options: UpstreamOptions,
): Promise<Result<LedgerSource, UpstreamError>> {
  const { withProofs, issuer } = options
  const { stopping, log } = deps
  const nodes = openNodes({ urls: options.urls, log })
  // Otherwise a process that has to stop would wait for nodes that do not respond.
  stopping?.addEventListener('abort', nodes.close)
  if (stopping?.aborted) nodes.close()
  const entered = await enter(deps, nodes, options)
  stopping?.removeEventListener('abort', nodes.close)
  if (entered.ok) return ok(await followNodes({ deps, nodes, withProofs, issuer }, entered.value))
  nodes.close()
  const isInterrupted = stopping?.aborted && entered.error.code === 'NODES_AWAY'
  return isInterrupted ? err({ code: 'START_INTERRUPTED' }) : entered
}

/** Enters the database, which is initialized first if it is new. */
async function enter(
  deps: NodeDeps,
  nodes: Nodes,
  { withProofs, genesis, snapshot }: UpstreamOptions,
): Promise<Result<Entered, UpstreamError>> {
  const initialized = await initializeFromSnapshot(deps, nodes, { snapshot, withProofs })
  if (!initialized.ok) return initialized
  return enterDatabase(deps, {
    networkName: await networkNameOf(nodes),
    keptBy: 'NODES',
    genesis: () => genesisOfNode(nodes, genesis),
  })
}

/** Initializes a new database from the snapshot, if the settings name one. */
async function initializeFromSnapshot(
  deps: NodeDeps,
  nodes: Nodes,
  { snapshot, withProofs }: Pick<UpstreamOptions, 'snapshot' | 'withProofs'>,
) {
  if (snapshot !== undefined) return beginWithSnapshot(deps, nodes, { snapshot, withProofs })
  const isUnfinished = (await deps.store.read.snapshotProgress()) !== undefined
  return isUnfinished ? err({ code: 'SNAPSHOT_UNFINISHED' } as const) : ok(undefined)
}

/** Dependencies and options of following. */
interface FollowingNodes extends Pick<UpstreamOptions, 'withProofs' | 'issuer'> {
  readonly deps: NodeDeps
  readonly nodes: Nodes
}

/** Enters the election of the process that follows the nodes. */
async function followNodes(
  { deps, nodes, withProofs, issuer }: FollowingNodes,
  { network, lease }: Entered,
): Promise<LedgerSource> {
  const { store, clock, log } = deps
  const { maxCommittableAge } = network.parameters
  const core = await openNodeCore(deps, network)
  const isStandby = lease === undefined
  const following = createFollowing({ core, nodes, maxCommittableAge, isStandby })
  const forwarded = createForwardedBlocks(forwardedBytes)
  const proven = new LRUCache<TransactionId, Hex>({ max: provenTransactions })
  const shared = { nodes, network, log, proven }
  const { committedSlot } = core
  core.enterElection(lead, lease)

  async function lead(term: LeaderTerm) {
    const lost = await follow({ ...shared, store, withProofs, core, following }, term)
    following.endTerm()
    return lost
  }

  function unavailable(): LedgerUnavailable | undefined {
    const isStopped = following.progress().state === 'STOPPED'
    return core.unavailable(isStopped ? 'NODE_CONTRADICTED' : undefined)
  }

  async function submit(block: CheckedBlock): Promise<Result<Submitted, SubmitRefused>> {
    const refused = unavailable()
    if (refused !== undefined) return err(refused)
    const isKnown = forwarded.block(block.blockId) !== undefined
    if (isKnown && !(await isForgotten(nodes, block.blockId))) return ok('KNOWN')
    const accepted = await forwardBlock({ nodes, log }, block)
    if (!accepted.ok) return accepted
    forwarded.add(block)
    return ok('ACCEPTED')
  }

  function status() {
    const fault = following.fault()
    return {
      ...core.status(),
      starting: undefined,
      reasons: core.reasons(fault),
      // A block is refused then too, but not before the nodes are tried: one of them may be back.
      unavailable: unavailable()?.reason ?? (fault === 'NODES_AWAY' ? fault : undefined),
      following: { ...following.progress(), withProofs },
    }
  }

  const issuance = () => issuanceOf(nodes)
  return {
    network,
    submit,
    unavailable,
    issuance,
    issue: (payload) => issueBlock({ clock, network, issuer, issuance }, payload),
    status,
    snapshotHead: undefined,
    unspentProofs: undefined,
    waiting: () => 0,
    node: createUpstreamNode({ ...shared, write: store.write, forwarded, committedSlot }),
    close: () => core.close(async () => nodes.close()),
  }
}

/**
 * The network name of the nodes. Without a response, the database is opened without this check: the network of each node is checked
 * again before the node is followed.
 */
async function networkNameOf(nodes: Nodes): Promise<string | undefined> {
  const facts = await nodes.fetch(info())
  const answered = facts.ok ? facts.value : undefined
  return answered && networkOfNode(answered)?.parameters.networkName
}

/** Whether the nodes no longer have a block that one of them accepted. Silent nodes may have it. */
async function isForgotten(nodes: Nodes, id: BlockId): Promise<boolean> {
  const metadata = await nodes.fetch(blockMetadataOf(id))
  return metadata.ok && metadata.value === undefined
}

async function issuanceOf(nodes: Nodes): Promise<Result<Issuance, LedgerUnavailable>> {
  const offer = await nodes.fetch(issuanceQuery())
  if (offer.ok && offer.value !== undefined) return ok(offer.value)
  const isUnreadable = !offer.ok && offer.error.code === 'NODE_ANSWER_UNREADABLE'
  const reason = isUnreadable ? 'NODE_ANSWER_UNREADABLE' : 'NODES_AWAY'
  return err({ code: 'LEDGER_UNAVAILABLE', reason })
}

/** Maximum size of the cached forwarded blocks, in bytes. */
const forwardedBytes = 33_554_432

/** Maximum number of cached hashes of transaction essences, about 200 bytes each. */
const provenTransactions = 100_000
