import { oldestParentSlot } from '../../ledger/admission.ts'
import type { CommittedSlot } from '../../ledger/commit-slot.ts'
import { identifyGenesis } from '../../ledger/genesis.ts'
import { assert } from '../../lib/assert.ts'
import type { GuardedClock } from '../../lib/guarded-clock.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { Block } from '../../protocol/block.ts'
import { identifyBlock } from '../../protocol/ids.ts'
import type { BlockId, SlotIndex } from '../../protocol/primitives.ts'
import { encode } from '../../protocol/schema/schema.ts'
import { epochOfSlot, slotEnd, slotOfTime } from '../../protocol/slots.ts'
import { CandidacyAnnouncement, type Payload } from '../../protocol/transaction.ts'
import type { Genesis, IncomingBlock, LeaseLost, Store } from '../../store/contract.ts'
import { watchClock } from '../clock-watch.ts'
import { type LeaderElection, type LeaderTerm, openLeaderElection } from '../leader-election.ts'
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
import { openCommitments } from './commitments.ts'
import { type EnterError, enterDatabase } from './enter.ts'
import { type GenesisPlan, genesisOf } from './genesis.ts'
import { createHeartbeat } from './heartbeat.ts'
import { createInbox, incomingBlock } from './inbox.ts'
import { buildBlock, buildVote, type IssuerAccount } from './issuer.ts'
import { isCandidacyDue } from './own-candidacy.ts'
import { type LedgerState, loadLedgerState } from './state.ts'
import { createWriter } from './writer.ts'

/** The ledger inside: this process keeps it with others on its database, and one of them books and commits it. */

/** What the ledger inside needs. */
export interface EmbeddedDeps {
  readonly store: Store
  readonly clock: GuardedClock
  readonly log: Log
  readonly signatures: Pick<SignatureChecker, 'check'>
  /** Names this process to others on the same database. */
  readonly holder: string
  /** Told of the newest position of the log after every commit of this process. */
  readonly onCommitted: (seq: number) => void
}

/** Which ledger to keep. */
export interface EmbeddedOptions {
  /** Makes the first state of a new database. */
  readonly genesis: GenesisPlan
  /** The name that the network of an existing database must have. */
  readonly networkName: string | undefined
  readonly issuer: IssuerAccount | undefined
}

/** Why the ledger could not be opened. */
export type EmbeddedError = EnterError

/**
 * Opens the ledger of a database, founding it when it is new, and stands for its lease. Where other processes may be on
 * the database, one that finds the lease held takes blocks all the same, and the holder books them.
 */
export async function openEmbedded(
  deps: EmbeddedDeps,
  options: EmbeddedOptions,
): Promise<Result<LedgerSource, EmbeddedError>> {
  const { store, clock, log } = deps
  const { issuer, networkName } = options
  const entered = await enterDatabase(deps, {
    networkName,
    keptBy: 'THIS_PROGRAM',
    genesis: async (): Promise<Result<Genesis, never>> => ok(genesisOf(options.genesis)),
  })
  if (!entered.ok) return entered
  const { network, lease } = entered.value
  const { parameters } = network
  const allowedLag = 1 + Math.ceil(allowedLagSeconds / parameters.slotDurationInSeconds)
  const prepared = new Map<BlockId, PreparedTransaction>()
  let isClosing = false
  // Only the writer has it.
  let ledger: LedgerState | undefined
  let standing: LeaderElection | undefined
  const commitments = await openCommitments({ store, parameters, log, isWriting })
  const newestSlot = () => commitments.newest().commitment.slot
  const clockWatch = watchClock({ clock, log, parameters, newestSlot })
  const writer = createWriter({
    ...deps,
    network,
    parameters,
    prepared,
    isCommitmentKnown: commitments.has,
    committedSlot: newestSlot,
    state,
    load,
    onCommitted: (slots, seq) => {
      for (const slot of slots) commitments.add(slot)
      deps.onCommitted(seq)
      beat()
    },
    onRunning: beat,
  })
  const inbox = createInbox({ write: store.write, onAccepted: writer.wake, limit: inboxLimit, log })
  const heartbeat =
    issuer &&
    createHeartbeat({
      read: store.read,
      log,
      issuer,
      slot,
      build: (...at) => build(issuer, ...at),
      keep,
    })
  standing = openLeaderElection(
    { ...deps, read: store.read, write: store.write, lead: reign },
    lease,
  )
  const listening = store.listen(({ topic }) => {
    if (topic === 'BLOCKS_ACCEPTED') writer.wake()
    if (topic === 'LEASE_FREED') standing?.look()
  })

  function isWriting(): boolean {
    return standing?.position().role === 'WRITER'
  }

  async function reign(term: LeaderTerm): Promise<LeaseLost | undefined> {
    const lost = await writer.lead(term)
    // The blocks of a member are prepared by whoever books them.
    prepared.clear()
    ledger = undefined
    return lost
  }

  async function load(): Promise<CommittedSlot> {
    const newest = await commitments.reload()
    ledger = await loadLedgerState(store.read, parameters)
    return newest
  }

  function state(): LedgerState {
    assert(ledger !== undefined, 'the writer has loaded the state')
    return ledger
  }

  function slot(): SlotIndex {
    return slotOfTime(parameters, clock.nowNs())
  }

  function beat(): void {
    const position = standing?.position()
    if (position?.role === 'WRITER' && unavailable() === undefined) heartbeat?.beat(position.term)
  }

  async function build(
    account: IssuerAccount,
    at: SlotIndex,
    announcedSlot: SlotIndex,
  ): Promise<readonly Block[]> {
    const committee = ledger?.committeeOf(epochOfSlot(parameters, at)) ?? []
    const { accountId } = account
    const isValidator = committee.some((seat) => seat.accountId === accountId)
    const isDue =
      ledger !== undefined &&
      isCandidacyDue({ parameters, state: ledger, accountId }, at, announcedSlot)
    const request = { issuance: await offer(), payload: undefined }
    // The slot may have ended meanwhile, and the next one has a block of its own.
    const lastNs = BigInt(slotEnd(parameters, at)) * 1_000_000_000n - 1n
    const nowNs = clock.nowNs()
    const building = { clock: { nowNs: () => (nowNs < lastNs ? nowNs : lastNs) }, network }
    const block = (isValidator ? buildVote : buildBlock)(building, account, request)
    if (!isDue) return [block]
    return [
      block,
      buildBlock(building, account, { ...request, payload: { type: CandidacyAnnouncement.code } }),
    ]
  }

  async function keep(term: number, blocks: readonly Block[]): Promise<void> {
    await store.write.acceptOwnBlocks(term, blocks.map(ownBlock))
    writer.wake()
  }

  function ownBlock(block: Block): IncomingBlock {
    const bytes = encode(Block, block)
    const at = slotOfTime(parameters, block.header.issuingTime)
    const { blockId } = identifyBlock(bytes, at)
    const checked = { block, bytes, blockId, slot: at, transaction: undefined }
    return incomingBlock(parameters, checked)
  }

  function unavailable(): LedgerUnavailable | undefined {
    const reason = isClosing
      ? 'CLOSING'
      : !store.isShared && !isWriting()
        ? 'LEASE_LOST'
        : lag() > allowedLag
          ? 'STARTING'
          : clock.hasLeapt()
            ? 'CLOCK_LEAPT'
            : clockWatch.isBehind()
              ? 'CLOCK_BEHIND'
              : undefined
    return reason && { code: 'LEDGER_UNAVAILABLE', reason }
  }

  /** How many slots that are due are not committed. */
  function lag(): number {
    return slot() - parameters.minCommittableAge - newestSlot()
  }

  async function submit(block: CheckedBlock): Promise<Result<BlockId, SubmitRefused>> {
    const refused = unavailable()
    if (refused !== undefined) return err(refused)
    const { blockId, transaction } = block
    if (transaction !== undefined && isWriting()) prepared.set(blockId, transaction)
    let isKept = false
    try {
      const acceptance = await inbox.accept(incomingBlock(parameters, block))
      if (!acceptance.ok) return acceptance
      isKept = acceptance.value === 'ACCEPTED'
      return acceptance.value === 'SLOT_CLOSED'
        ? err({ code: 'SLOT_CLOSED', slot: block.slot })
        : ok(blockId)
    } finally {
      if (!isKept) prepared.delete(blockId)
    }
  }

  async function offer(): Promise<Issuance> {
    const blocks = await store.read.recentBlocks(parentsOffered)
    const newest = commitments.newest().commitment
    // A slot of slack: the clock of a client may be behind ours.
    const { commitment } = commitments.upTo(slot() - parameters.minCommittableAge - 1)
    const oldest = oldestParentSlot(parameters, newest.slot, blocks[0]?.slot ?? 0)
    const young = blocks.filter((block) => block.slot >= oldest)
    const parents = young.map(({ blockId }) => blockId).sort()
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
    if (issuer === undefined) return err({ code: 'ISSUER_NOT_CONFIGURED' })
    const request = { issuance: await offer(), payload }
    return ok(buildBlock({ clock, network }, issuer, request))
  }

  function status(): SourceStatus {
    const { commitmentId, commitment } = commitments.newest()
    const reason = unavailable()?.reason
    return {
      ...(standing?.position() ?? { role: 'STANDBY', term: 0 }),
      isHealthy: reason === undefined && standing?.isSound() === true,
      unavailable: reason,
      latestCommitmentId: commitmentId,
      latestCommittedSlot: commitment.slot,
      slot: slot(),
      following: undefined,
    }
  }

  async function close(): Promise<void> {
    isClosing = true
    await heartbeat?.settled()
    await inbox.settled()
    await listening.close()
    await standing?.close()
    clockWatch.close()
    await commitments.close()
  }

  return ok({ network, submit, unavailable, issuance, issue, status, node: undefined, close })
}

/** Blocks that may wait for the disk. */
const inboxLimit = 10_000

/** Parents offered to clients. */
const parentsOffered = 4

/**
 * A ledger that lags more behind the clock takes no blocks: it lacks the commitments that they rightly refer to. Another
 * process takes over in less, and blocks are taken all the while.
 */
const allowedLagSeconds = 10
