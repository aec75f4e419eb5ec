import { err, ok, type Result } from '../../lib/result.ts'
import { inTurns } from '../../lib/turns.ts'
import type { Network } from '../../protocol/network.ts'
import type { BlockId } from '../../protocol/primitives.ts'
import type { Genesis } from '../../store/contract.ts'
import { type EnterError, enterDatabase } from '../enter-database.ts'
import { type GenesisPlan, genesisSteps } from '../genesis.ts'
import { type IssuerAccount, issueBlock } from '../issuer.ts'
import { type NodeCore, type NodeDeps, openNodeCore } from '../node-core.ts'
import type { PreparedTransaction } from '../prepared-transaction.ts'
import type { SignatureChecker } from '../signatures.ts'
import type { CheckedBlock, LedgerSource, LedgerUnavailable, SubmitRefused } from '../source.ts'
import { createHeartbeat, type HeartbeatDeps } from './heartbeat.ts'
import { createInbox, type Inbox, incomingBlock } from './inbox.ts'
import { issuanceNow } from './issuance.ts'
import { newestRoots, proveUnspent } from './prove-unspent.ts'
import { snapshotHead } from './snapshot-head.ts'
import type { StateMemory } from './state.ts'
import { createWriter, type WriterDeps } from './writer.ts'

/** Embedded mode: this process keeps the ledger with others on its database, and one of them books and commits it. */

/** What embedded mode needs. */
export interface EmbeddedDeps extends NodeDeps {
  readonly signatures: Pick<SignatureChecker, 'check'>
}

/** Which ledger to keep. */
export interface EmbeddedOptions {
  /** Makes the first state of a new database. */
  readonly genesis: GenesisPlan
  /** The name that the network of an existing database must have. */
  readonly networkName: string | undefined
  readonly issuer: IssuerAccount | undefined
  readonly memory: StateMemory
}

/**
 * Opens the ledger of a database, which it initializes when it is new, and enters the election of the writer. On a shared
 * database a standby takes blocks as well, and the writer books them.
 */
export async function openEmbedded(
  deps: EmbeddedDeps,
  { genesis, networkName, issuer, memory }: EmbeddedOptions,
): Promise<Result<LedgerSource, EnterError>> {
  const { store, clock } = deps
  const entered = await enterDatabase(deps, {
    networkName,
    keptBy: 'THIS_PROGRAM',
    genesis: async (): Promise<Result<Genesis, never>> => ok(await inTurns(genesisSteps(genesis))),
  })
  if (!entered.ok) return entered
  const { network, lease } = entered.value
  const core = await openNodeCore(deps, network)
  const offer = () => issuanceNow(store.read, network.parameters, core)
  const issuance = async () => ok(await offer())
  const isBuilding = () => writer.starting()?.step === 'BUILDING_TRIES'
  const own = () => ownReason({ ...core, isBuilding }, store, network)
  const unavailable = () => core.unavailable(own())
  // Blocks are taken meanwhile, but no other process writes to a file.
  const beforeWriting = () => (store.isShared || writer.isRunning() ? undefined : 'STARTING')
  const prepared = new Map<BlockId, PreparedTransaction>()
  const canIssue = () => unavailable() === undefined
  const issueFrom = issuer && { issuer, issuance: offer }
  const { writer, inbox, drain } = startWriting(deps, {
    network,
    core,
    prepared,
    canIssue,
    issueFrom,
    memory,
  })
  core.enterElection(writer.lead, lease)

  function status() {
    const reason = unavailable()?.reason
    const reasons = core.reasons(own() ?? beforeWriting())
    const shared = core.status()
    // One that has the lease and cannot write yet is no writer.
    const role = writer.isRunning() ? shared.role : 'STANDBY'
    const starting = writer.starting()
    return { ...shared, role, reasons, unavailable: reason, starting, following: undefined }
  }

  const submit: LedgerSource['submit'] = async (block) => {
    const refused = unavailable()
    return refused === undefined ? accept(network, { core, inbox, prepared }, block) : err(refused)
  }

  return ok({
    network,
    submit,
    unavailable,
    issuance,
    issue: (payload) => issueBlock({ clock, network, issuer, issuance }, payload),
    status,
    snapshotHead: () => snapshotHead(deps.store, network),
    unspentProofs: { roots: (read) => newestRoots(read, network), prove: proveUnspent },
    waiting: inbox.waiting,
    node: undefined,
    close: () => core.close(drain),
  })
}

interface WritingDeps {
  readonly network: Network
  readonly core: NodeCore
  readonly prepared: Map<BlockId, PreparedTransaction>
  readonly canIssue: () => boolean
  readonly memory: StateMemory
  /** Where the blocks of the program's own account come from; `undefined` without one. */
  readonly issueFrom: Pick<HeartbeatDeps, 'issuer' | 'issuance'> | undefined
}

/** What writes while this process leads, and takes blocks always. */
function startWriting(
  deps: EmbeddedDeps,
  { network, core, prepared, canIssue, issueFrom, memory }: WritingDeps,
) {
  const { store, log } = deps
  const { commitments, slot } = core
  const writer = createWriter({
    ...deps,
    network,
    prepared,
    commitments,
    memory,
    onCommitted: (slots, seq) => {
      core.committed(slots, seq)
      issueOwnBlocks()
    },
    onRunning: issueOwnBlocks,
  })
  const { wake: onAccepted, ledger } = writer
  const inbox = createInbox({ write: store.write, onAccepted, limit: inboxLimit, log })
  const heartbeat =
    issueFrom && createHeartbeat({ ...deps, ...issueFrom, network, ledger, slot, onAccepted })
  const listening = store.listen(({ topic }) => {
    if (topic === 'BLOCKS_ACCEPTED') writer.wake()
  })

  function issueOwnBlocks(): void {
    const { role, term } = core.status()
    if (role === 'WRITER' && canIssue()) heartbeat?.issue(term)
  }

  async function drain(): Promise<void> {
    await heartbeat?.settled()
    await inbox.settled()
    await listening.close()
  }

  return { writer, inbox, drain }
}

/** Why an open ledger with a right clock takes no blocks. */
function ownReason(
  core: Pick<NodeCore, 'isWriting' | 'slot' | 'committedSlot'> & { isBuilding(): boolean },
  { isShared }: EmbeddedDeps['store'],
  { parameters }: Network,
): LedgerUnavailable['reason'] | undefined {
  const { isWriting, isBuilding, slot, committedSlot } = core
  if (!isShared && !isWriting()) return 'LEASE_LOST'
  if (isBuilding()) return 'STARTING'
  // The slots that are due and not committed.
  const lag = slot() - parameters.minCommittableAge - committedSlot()
  const allowed = 1 + Math.ceil(allowedLagSeconds / parameters.slotDurationInSeconds)
  return lag > allowed ? 'STARTING' : undefined
}

interface Accepting extends Pick<WriterDeps, 'prepared'> {
  readonly core: NodeCore
  readonly inbox: Inbox
}

/** Writes a block to the inbox; the writer keeps its prepared transaction until it books the block. */
async function accept(
  { parameters }: Network,
  { core, inbox, prepared }: Accepting,
  block: CheckedBlock,
): Promise<Result<BlockId, SubmitRefused>> {
  const { blockId, transaction } = block
  if (transaction !== undefined && core.isWriting()) prepared.set(blockId, transaction)
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

/** Blocks that may wait for the disk. */
const inboxLimit = 10_000

/**
 * A ledger that lags further behind the clock takes no blocks: it lacks the commitments that they rightly refer to. Another
 * process takes over in less, and blocks are taken all the while.
 */
const allowedLagSeconds = 10
