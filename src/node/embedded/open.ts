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
import type {
  CheckedBlock,
  LedgerSource,
  LedgerUnavailable,
  SourceStatus,
  SubmitRefused,
  Submitted,
} from '../source.ts'
import { createHeartbeat, type HeartbeatDeps } from './heartbeat.ts'
import { createInbox, type Inbox, incomingBlock } from './inbox.ts'
import { issuanceNow } from './issuance.ts'
import { newestRoots, proveUnspent } from './prove-unspent.ts'
import { snapshotHead } from './snapshot-head.ts'
import type { StateMemory } from './state.ts'
import { createWriter, type LedgerWriter, type WriterDeps } from './writer.ts'

/** Embedded mode: the processes on a database keep the ledger, and one of them books blocks and commits slots. */

export interface EmbeddedDeps extends NodeDeps {
  readonly signatures: Pick<SignatureChecker, 'check'>
}

/** The ledger to keep, and how. */
export interface EmbeddedOptions {
  /** The first state of a new database. */
  readonly genesis: GenesisPlan
  /** The required network name of an existing database; `undefined` accepts any. */
  readonly networkName: string | undefined
  readonly issuer: IssuerAccount | undefined
  readonly memory: StateMemory
}

/**
 * Opens the ledger of a database and enters the leader election. Initializes a new database. On a shared database a standby
 * accepts blocks too, and the writer books them.
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
    status: () => statusOf({ core, writer, isShared: store.isShared }, own()),
    snapshotHead: () => snapshotHead(deps.store, network),
    unspentProofs: { roots: (read) => newestRoots(read, network), prove: proveUnspent },
    waiting: inbox.waiting,
    node: undefined,
    close: () => core.close(drain),
  })
}

function statusOf(
  {
    core,
    writer,
    isShared,
  }: { readonly core: NodeCore; readonly writer: LedgerWriter; readonly isShared: boolean },
  own: LedgerUnavailable['reason'] | undefined,
): SourceStatus {
  const reason = core.unavailable(own)?.reason
  // The process accepts blocks before its writer runs. It still reports STARTING, because nothing else writes to a file.
  const beforeWriting = isShared || writer.isRunning() ? undefined : 'STARTING'
  const reasons = core.reasons(own ?? beforeWriting)
  const shared = core.status()
  // A process that has the lease and cannot write yet reports itself as a standby.
  const role = writer.isRunning() ? shared.role : 'STANDBY'
  const starting = writer.starting()
  return { ...shared, role, reasons, unavailable: reason, starting, following: undefined }
}

interface WritingDeps {
  readonly network: Network
  readonly core: NodeCore
  readonly prepared: Map<BlockId, PreparedTransaction>
  readonly canIssue: () => boolean
  readonly memory: StateMemory
  /** The issuer account of this program and its source of parents; `undefined` without an account. */
  readonly issueFrom: Pick<HeartbeatDeps, 'issuer' | 'issuance'> | undefined
}

/** Creates the writer, which runs while this process leads, and the inbox, which always accepts blocks. */
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

/** Why an open ledger with a correct clock accepts no blocks. */
function ownReason(
  core: Pick<NodeCore, 'isWriting' | 'slot' | 'committedSlot'> & { isBuilding(): boolean },
  { isShared }: EmbeddedDeps['store'],
  { parameters }: Network,
): LedgerUnavailable['reason'] | undefined {
  const { isWriting, isBuilding, slot, committedSlot } = core
  if (!isShared && !isWriting()) return 'LEASE_LOST'
  if (isBuilding()) return 'STARTING'
  // Number of slots that are due and not committed.
  const lag = slot() - parameters.minCommittableAge - committedSlot()
  const allowed = 1 + Math.ceil(allowedLagSeconds / parameters.slotDurationInSeconds)
  return lag > allowed ? 'STARTING' : undefined
}

interface Accepting extends Pick<WriterDeps, 'prepared'> {
  readonly core: NodeCore
  readonly inbox: Inbox
}

/** Writes a block to the inbox. The writer keeps the prepared transaction until it books the block. */
async function accept(
  { parameters }: Network,
  { core, inbox, prepared }: Accepting,
  block: CheckedBlock,
): Promise<Result<Submitted, SubmitRefused>> {
  const { blockId, transaction } = block
  if (transaction !== undefined && core.isWriting()) prepared.set(blockId, transaction)
  let isAccepted = false
  try {
    const acceptance = await inbox.accept(incomingBlock(parameters, block))
    if (!acceptance.ok) return acceptance
    isAccepted = acceptance.value === 'ACCEPTED'
    return acceptance.value === 'SLOT_CLOSED'
      ? err({ code: 'SLOT_CLOSED', slot: block.slot })
      : ok(acceptance.value)
  } finally {
    if (!isAccepted) prepared.delete(blockId)
  }
}

/** Maximum number of blocks that wait to be written. */
const inboxLimit = 10_000

/**
 * A ledger that lags further behind the clock accepts no blocks, because it lacks commitments that valid blocks refer to.
 * Another process takes over in less time than this, so that blocks are accepted during a takeover.
 */
const allowedLagSeconds = 10
