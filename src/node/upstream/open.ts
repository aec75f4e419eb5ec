import type { CommittedSlot } from '../../ledger/commit-slot.ts'
import { assert } from '../../lib/assert.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { Block } from '../../protocol/block.ts'
import { type Network, networkOf } from '../../protocol/network.ts'
import { ProtocolParameters } from '../../protocol/parameters.ts'
import type { BlockId } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import { slotOfTime } from '../../protocol/slots.ts'
import type { Payload } from '../../protocol/transaction.ts'
import type { LeaseHeld, Store } from '../../store/contract.ts'
import type { NetworkDiffers } from '../embedded/enter.ts'
import type { GenesisPlan } from '../embedded/genesis.ts'
import { buildBlock, type IssuerAccount } from '../embedded/issuer.ts'
import { committedSlot } from '../embedded/recent-commitments.ts'
import { awaitLease } from '../lease.ts'
import type {
  CheckedBlock,
  Issuance,
  IssuerNotConfigured,
  LedgerSource,
  LedgerUnavailable,
  SourceStatus,
  SubmitRefused,
} from '../source.ts'
import { createBehind } from './behind.ts'
import { follow, type Progress } from './follow.ts'
import { type FoundError, genesisTold, networkTold } from './found.ts'
import { createHandedOn } from './handed-on.ts'
import { type Nodes, openNodes } from './nodes.ts'
import { info, issuance as issuanceQuestion } from './questions.ts'
import { handOn } from './submit.ts'

/** The ledger of a node behind: blocks are handed on to it, and what it commits is followed into our log. */

/** What following a node needs. */
export interface UpstreamDeps {
  readonly store: Store
  readonly clock: Clock
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
export type UpstreamError = LeaseHeld | NetworkDiffers | FoundError

/** Opens the ledger of a database, founding it from what the nodes tell when it is new, and follows. */
export async function openUpstream(
  deps: UpstreamDeps,
  options: UpstreamOptions,
): Promise<Result<LedgerSource, UpstreamError>> {
  const { store, clock, log, holder } = deps
  const { urls, withProofs, issuer } = options
  const nodes = openNodes({ urls, log })
  const taken = await awaitLease({ write: store.write, log, holder })
  if (!taken.ok) return taken
  const lease = taken.value
  const found = await networkIn(deps, options, nodes, lease.term)
  if (!found.ok) {
    nodes.close()
    await lease.release()
    return found
  }
  const network = found.value
  const { parameters } = network
  const ended = new AbortController()
  const handedOn = createHandedOn(handedOnBytes)
  let newest = await loadCommitted()
  let progress: Progress = {
    state: 'CATCHING_UP',
    node: undefined,
    newestSlot: undefined,
    contradiction: undefined,
  }
  const following = follow(
    {
      store,
      nodes,
      network,
      log,
      withProofs,
      loadCommitted,
      onCommitted: (committed, seq) => {
        newest = committed
        deps.onCommitted(seq)
      },
      onProgress: (next) => {
        progress = next
      },
    },
    { term: lease.term, ended: ended.signal },
  )
  const renewing = setInterval(() => void lease.renew().catch(() => {}), 1_000)

  async function loadCommitted(): Promise<CommittedSlot> {
    return committedSlot(await store.read.latestMilestone())
  }

  function unavailable(): LedgerUnavailable | undefined {
    const code = 'LEDGER_UNAVAILABLE'
    if (ended.signal.aborted) return { code, reason: 'CLOSING' }
    return progress.state === 'STOPPED' ? { code, reason: 'NODE_CONTRADICTED' } : undefined
  }

  async function submit(block: CheckedBlock): Promise<Result<BlockId, SubmitRefused>> {
    const refused = unavailable()
    if (refused !== undefined) return err(refused)
    if (handedOn.block(block.blockId) !== undefined) return ok(block.blockId)
    const taken = await handOn({ nodes, log }, block)
    if (taken.ok) handedOn.add(block)
    return taken
  }

  async function issuance(): Promise<Result<Issuance, LedgerUnavailable>> {
    const told = await nodes.ask(issuanceQuestion())
    if (told.ok && told.value !== undefined) return ok(told.value)
    return err({ code: 'LEDGER_UNAVAILABLE', reason: 'NODES_AWAY' })
  }

  async function issue(
    payload: Payload | undefined,
  ): Promise<Result<Block, IssuerNotConfigured | LedgerUnavailable>> {
    if (issuer === undefined) return err({ code: 'ISSUER_NOT_CONFIGURED' })
    const offered = await issuance()
    if (!offered.ok) return offered
    return ok(buildBlock({ clock, network }, issuer, { issuance: offered.value, payload }))
  }

  function status(): SourceStatus {
    const { commitmentId, commitment } = newest
    return {
      role: 'WRITER',
      term: lease.term,
      isHealthy: progress.state === 'FOLLOWING',
      latestCommitmentId: commitmentId,
      latestCommittedSlot: commitment.slot,
      slot: slotOfTime(parameters, clock.nowNs()),
    }
  }

  async function close(): Promise<void> {
    ended.abort()
    nodes.close()
    clearInterval(renewing)
    await following
    await lease.release()
  }

  const node = createBehind({
    nodes,
    network,
    write: store.write,
    log,
    handedOn,
    committedSlot: () => newest.commitment.slot,
  })
  return ok({ network, submit, unavailable, issuance, issue, status, node, close })
}

/** The blocks that are remembered, in bytes of all together. */
const handedOnBytes = 33_554_432

/** The network of the database, which must be that of the nodes; a new one is founded. */
async function networkIn(
  { store, log }: UpstreamDeps,
  options: UpstreamOptions,
  nodes: Nodes,
  term: number,
): Promise<Result<Network, UpstreamError>> {
  const row = await store.read.network()
  if (row === undefined) {
    const genesis = await genesisTold(nodes, options.genesis)
    if (!genesis.ok) return genesis
    const founded = await store.write.found(term, genesis.value)
    assert(founded.ok, 'a ledger is founded under the lease just taken')
    const network = storedNetwork(genesis.value.network.parameters)
    log.info('ledger-founded', { network: network.parameters.networkName })
    return ok(network)
  }
  const network = storedNetwork(row.parameters)
  const facts = await nodes.ask(info())
  // Without an answer the database is served as it is; each node is asked again before it is followed.
  const told = facts.ok && facts.value !== undefined ? networkTold(facts.value) : network
  const found = network.parameters.networkName
  const expected = told?.parameters.networkName ?? 'of another version'
  return expected === found ? ok(network) : err({ code: 'NETWORK_DIFFERS', found, expected })
}

function storedNetwork(bytes: Uint8Array): Network {
  const parameters = decode(ProtocolParameters, bytes)
  assert(parameters.ok, 'stored parameters decode')
  return networkOf(parameters.value)
}
