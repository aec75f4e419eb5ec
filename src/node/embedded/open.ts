import type { CommittedSlot } from '../../ledger/commit-slot.ts'
import { identifyGenesis } from '../../ledger/genesis.ts'
import { assert } from '../../lib/assert.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { Block } from '../../protocol/block.ts'
import { identifyBlock } from '../../protocol/ids.ts'
import { type Network, networkOf } from '../../protocol/network.ts'
import { ProtocolParameters } from '../../protocol/parameters.ts'
import type { BlockId, CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import { decode, encode } from '../../protocol/schema/schema.ts'
import { nodeWorkScore } from '../../protocol/score.ts'
import { epochOfSlot, slotEnd, slotOfTime } from '../../protocol/slots.ts'
import type { Payload } from '../../protocol/transaction.ts'
import type { LeaseHeld, Store } from '../../store/contract.ts'
import type { PreparedTransaction } from '../prepared-transaction.ts'
import type { SignatureChecker } from '../signatures.ts'
import type {
  CheckedBlock,
  Issuance,
  IssuerNotConfigured,
  LedgerSource,
  LedgerUnavailable,
  SourceStatus,
  SubmitRefused,
} from '../source.ts'
import { type GenesisPlan, genesisOf } from './genesis.ts'
import { createInbox } from './inbox.ts'
import { buildBlock, buildVote, type IssuerAccount } from './issuer.ts'
import { takeLease } from './lease.ts'
import { loadRecentCommitments, type RecentCommitments } from './recent-commitments.ts'
import { loadLedgerState } from './state.ts'
import { startWriter, type WriterState } from './writer.ts'

/** The ledger inside: this process keeps it, books it and commits it. */

/** What the ledger inside needs. */
export interface EmbeddedDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly signatures: Pick<SignatureChecker, 'check'>
  /** Names this process to others on the same database. */
  readonly holder: string
  /** Told of the newest position of the log after every commit. */
  readonly onCommitted: (seq: number) => void
}

/** Which ledger to keep. */
export interface EmbeddedOptions {
  /** Makes the first state of a new database. */
  readonly genesis: GenesisPlan
  /** Whether an existing database must have exactly the network of the plan. */
  readonly networkName: string | undefined
  readonly issuer: IssuerAccount | undefined
}

/** Why the ledger could not be opened. */
export type EmbeddedError = LeaseHeld | NetworkDiffers

/** The database holds another network than the one asked for. */
export interface NetworkDiffers {
  readonly code: 'NETWORK_DIFFERS'
  readonly found: string
  readonly expected: string
}

/** Opens the ledger of a database, founding it when it is new, and starts writing. */
export async function openEmbedded(
  deps: EmbeddedDeps,
  options: EmbeddedOptions,
): Promise<Result<LedgerSource, EmbeddedError>> {
  const { store, clock, log, holder } = deps
  const taken = await takeLease({ write: store.write, log, holder })
  if (!taken.ok) return taken
  const lease = taken.value
  const found = await networkIn(deps, options, lease.term)
  if (!found.ok) {
    await lease.release()
    return found
  }
  const network = found.value
  const { parameters } = network
  let commitments = await load()
  let ledger = await loadLedgerState(store.read, parameters)
  let state: WriterState | 'CLOSING' = 'STARTING'
  let heartbeat = Promise.resolve()
  let beaten: SlotIndex | undefined
  const prepared = new Map<BlockId, PreparedTransaction>()

  const writer = startWriter(
    {
      ...deps,
      network,
      parameters,
      prepared,
      isCommitmentKnown: (id: CommitmentId) => commitments.has(id),
      committedSlot: () => commitments.newest().commitment.slot,
      state: () => ledger,
      loadCommitted,
      onCommitted,
      onState: (next) => {
        if (state === 'CLOSING' || state === next) return
        state = next
        beat()
      },
    },
    lease,
  )
  const inbox = createInbox({ write: store.write, onAccepted: writer.wake, limit: inboxLimit })

  function load(): Promise<RecentCommitments> {
    return loadRecentCommitments(store.read, 2 * parameters.maxCommittableAge + 2)
  }

  async function loadCommitted(): Promise<CommittedSlot> {
    commitments = await load()
    ledger = await loadLedgerState(store.read, parameters)
    return commitments.newest()
  }

  function onCommitted(slots: readonly CommittedSlot[], seq: number): void {
    for (const slot of slots) commitments.add(slot)
    deps.onCommitted(seq)
    beat()
  }

  function beat(): void {
    if (state === 'RUNNING') heartbeat = heartbeat.then(keepParentsYoung)
  }

  /** A block a slot: clients refuse parents that are minutes old. A validator's counts for its rewards. */
  async function keepParentsYoung(): Promise<void> {
    const { issuer } = options
    if (issuer === undefined || state !== 'RUNNING') return
    try {
      const { slot } = status()
      if (slot <= (await lastBeat(issuer))) return
      beaten = slot
      const committee = ledger.committeeOf(epochOfSlot(parameters, slot))
      const isValidator = committee.some(({ accountId }) => accountId === issuer.accountId)
      const build = isValidator ? buildVote : buildBlock
      const request = { issuance: await offer(), payload: undefined }
      await submit(checkedOwn(build({ clock, network }, issuer, request)))
    } catch (failure) {
      log.error('heartbeat-failed', { error: failure })
    }
  }

  /** The slot of the last such block. A validator that issues a second one in a slot is fined, also after a restart. */
  async function lastBeat({ accountId }: IssuerAccount): Promise<SlotIndex> {
    const blocks = beaten === undefined ? await store.read.recentBlocks(beatsSearched) : []
    const own = blocks.find(({ issuerId }) => issuerId === accountId)
    return beaten ?? own?.slot ?? parameters.genesisSlot
  }

  function checkedOwn(block: Block): CheckedBlock {
    const bytes = encode(Block, block)
    const slot = slotOfTime(parameters, block.header.issuingTime)
    const { blockId } = identifyBlock(bytes, slot)
    return { block, bytes, blockId, slot, transaction: undefined }
  }

  function unavailable(): LedgerUnavailable | undefined {
    return state === 'RUNNING' ? undefined : { code: 'LEDGER_UNAVAILABLE', reason: state }
  }

  async function submit(block: CheckedBlock): Promise<Result<BlockId, SubmitRefused>> {
    const refused = unavailable()
    if (refused !== undefined) return err(refused)
    const { blockId, slot, bytes, transaction } = block
    const { issuerId, issuingTime } = block.block.header
    if (transaction !== undefined) prepared.set(blockId, transaction)
    const transactionId = transaction?.identity.transactionId
    const kind = block.block.body.type === 0 ? 'basic' : 'validation'
    const workScore = nodeWorkScore(parameters, block.block)
    const { strongParents, weakParents, shallowLikeParents } = block.block.body
    const row = {
      blockId,
      parents: [...strongParents, ...weakParents, ...shallowLikeParents],
      slot,
      issuerId,
      issuingTime,
      bytes,
      transactionId,
      kind,
      workScore,
    } as const
    const acceptance = await inbox.accept(row)
    if (acceptance.ok && acceptance.value === 'ACCEPTED') return ok(blockId)
    prepared.delete(blockId)
    if (!acceptance.ok) return acceptance
    return acceptance.value === 'KNOWN' ? ok(blockId) : err({ code: 'SLOT_CLOSED', slot })
  }

  async function offer(): Promise<Issuance> {
    const slot = slotOfTime(parameters, clock.nowNs())
    const blocks = await store.read.recentBlocks(parentsOffered)
    const newest = commitments.newest().commitment
    // A slot of slack: the clock of a client may be behind ours.
    const { commitment } = commitments.upTo(slot - parameters.minCommittableAge - 1)
    const parents = blocks.map(({ blockId }) => blockId).sort()
    return {
      strongParents: parents.length > 0 ? parents : [identifyGenesis(parameters, []).blockId],
      latestParentBlockIssuingTime:
        blocks[0]?.issuingTime ?? BigInt(slotEnd(parameters, newest.slot)) * 1_000_000_000n,
      latestFinalizedSlot: newest.slot,
      latestCommitment: commitment,
    }
  }

  async function issuance(): Promise<Result<Issuance, never>> {
    return ok(await offer())
  }

  async function issue(payload: Payload | undefined): Promise<Result<Block, IssuerNotConfigured>> {
    const { issuer } = options
    if (issuer === undefined) return err({ code: 'ISSUER_NOT_CONFIGURED' })
    const request = { issuance: await offer(), payload }
    return ok(buildBlock({ clock, network }, issuer, request))
  }

  function status(): SourceStatus {
    const { commitmentId, commitment } = commitments.newest()
    return {
      isHealthy: state === 'RUNNING',
      latestCommitmentId: commitmentId,
      latestCommittedSlot: commitment.slot,
      slot: slotOfTime(parameters, clock.nowNs()),
    }
  }

  async function close(): Promise<void> {
    state = 'CLOSING'
    await heartbeat
    await inbox.settled()
    await writer.close()
  }

  return ok({ network, submit, unavailable, issuance, issue, status, node: undefined, close })
}

/** Blocks that may wait for the disk. */
const inboxLimit = 10_000

/** The blocks among which the last one of the node is looked for after a start. */
const beatsSearched = 1_000

/** Parents offered to clients. */
const parentsOffered = 4

/** The network of the database; a new one is founded. */
async function networkIn(
  { store, log }: EmbeddedDeps,
  options: EmbeddedOptions,
  term: number,
): Promise<Result<Network, EmbeddedError>> {
  const row = await store.read.network()
  if (row === undefined) {
    const plan = options.genesis
    const founded = await store.write.found(term, genesisOf(plan))
    assert(founded.ok, 'a ledger is founded under the lease just taken')
    log.info('ledger-founded', { network: plan.parameters.networkName })
    return ok(networkOf(plan.parameters))
  }
  const parameters = decode(ProtocolParameters, row.parameters)
  assert(parameters.ok, 'stored parameters decode')
  const { networkName: found } = parameters.value
  const { networkName: expected } = options
  if (expected !== undefined && found !== expected) {
    return err({ code: 'NETWORK_DIFFERS', found, expected })
  }
  return ok(networkOf(parameters.value))
}
