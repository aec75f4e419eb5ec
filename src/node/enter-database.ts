import { setTimeout as delay } from 'node:timers/promises'
import { assert, present } from '../lib/assert.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { type Network, networkOf } from '../protocol/network.ts'
import { ProtocolParameters } from '../protocol/parameters.ts'
import { epochOfSlot } from '../protocol/slots.ts'
import { decodeStored } from '../protocol/stored.ts'
import type { LeaseHeld } from '../store/contract/lease.ts'
import type { Genesis, Store } from '../store/contract.ts'
import { storeFaultOf } from '../store/faults.ts'
import type { ImportUnfinished } from '../store/open.ts'
import type { NetworkRow } from '../store/rows.ts'
import { type Lease, tryLease } from './lease.ts'
import type { NodeDeps } from './node-core.ts'

/** Reads the network of a database, and initializes a new database. */

export type EnterDeps = Pick<NodeDeps, 'store' | 'log' | 'holder' | 'stopping'>

/** The expected network, and the genesis of a new database. */
export interface EnterOptions<E> {
  /** Returns the first state of a new database. */
  readonly genesis: () => Promise<Result<Genesis, E>>
  /** The required network name of an existing database; `undefined` accepts any. */
  readonly networkName: string | undefined
  /** Who keeps the ledger of the database. */
  readonly keptBy: 'THIS_PROGRAM' | 'NODES'
}

/** Why a database could not be entered. */
export type EnterError =
  | LeaseHeld
  | NetworkDiffers
  | LedgerKeptByOthers
  | StartInterrupted
  | ImportUnfinished

/** The process had to stop before the ledger was initialized. */
export interface StartInterrupted {
  readonly code: 'START_INTERRUPTED'
}

/** The database holds a ledger of the other mode: upstream instead of embedded, or embedded instead of upstream. */
export interface LedgerKeptByOthers {
  readonly code: 'LEDGER_KEPT_BY_OTHERS'
  readonly keptBy: EnterOptions<never>['keptBy']
}

/** The network of the database is not the network that the settings name. */
export interface NetworkDiffers {
  readonly code: 'NETWORK_DIFFERS'
  readonly found: string
  readonly expected: string
}

/** The network, and the lease if this process took it. */
export interface Entered {
  readonly network: Network
  readonly lease: Lease | undefined
}

/** Enters a database. If another process holds the lease, waits only until that process has initialized the ledger. */
export async function enterDatabase<E>(
  deps: EnterDeps,
  options: EnterOptions<E>,
): Promise<Result<Entered, EnterError | E>> {
  const { store, log, holder, stopping } = deps
  // Read before the lease is taken: a process with the wrong network or without a genesis must never hold the lease.
  const known = await expectedNetwork(store, options)
  if (!known.ok) return known
  const genesis = known.value === undefined ? await options.genesis() : undefined
  if (genesis !== undefined && !genesis.ok) return genesis
  const entering = { ...options, genesis: genesis?.value }
  const leaseDeps = { write: store.write, log, holder }
  for (let waited = 0; ; waited += pollMs) {
    const taken = await unlessUnwritable(tryLease(leaseDeps), known.value)
    if (taken === undefined) {
      return ok({ network: present(known.value, 'the network of the ledger'), lease: undefined })
    }
    if (taken.ok) return enterAsLeader(deps, entering, taken.value)
    const network = await expectedNetwork(store, options)
    if (!network.ok) return network
    if (network.value !== undefined) return ok({ network: network.value, lease: undefined })
    if (stopping?.aborted) return err({ code: 'START_INTERRUPTED' })
    if (waited >= initializeLimitMs) return taken
    await delay(pollMs, undefined, { signal: stopping }).catch(() => {})
  }
}

/**
 * Returns the outcome, or `undefined` if a database with a ledger cannot be written: the disk is full, the server is a standby, a
 * failover lost data, or another program holds a lock. The database is served nevertheless, and the election continues until the lease
 * can be taken.
 */
async function unlessUnwritable<T>(
  taking: Promise<T>,
  network: Network | undefined,
): Promise<T | undefined> {
  try {
    return await taking
  } catch (failure) {
    const fault = storeFaultOf(failure)
    if (network !== undefined && fault !== undefined && fault !== 'DAMAGED') return undefined
    throw failure
  }
}

const pollMs = 100

/** Initializing takes a few hundred milliseconds, plus a few seconds per 100,000 outputs. */
const initializeLimitMs = 120_000

type Expected = Pick<EnterOptions<never>, 'networkName' | 'keptBy'>

/** Enters as the holder of the lease. */
async function enterAsLeader(
  { store, log }: EnterDeps,
  options: Expected & { readonly genesis: Genesis | undefined },
  lease: Lease,
): Promise<Result<Entered, EnterError>> {
  const known = await expectedNetwork(store, options)
  if (!known.ok) {
    await lease.release()
    return known
  }
  if (known.value !== undefined) return ok({ network: known.value, lease })
  const genesis = present(options.genesis, 'the genesis of a new database')
  const initialized = await store.write.initialize(lease.term, genesis)
  assert(initialized.ok, 'a ledger is initialized under the lease just taken')
  const network = storedNetwork(genesis.network)
  log.info('ledger-founded', { network: network.parameters.networkName })
  return ok({ network, lease })
}

/** Reads the network of the database, and checks that it is the expected one. Returns `undefined` for a new database. */
async function expectedNetwork(
  { read }: Store,
  { networkName: expected, keptBy }: Expected,
): Promise<Result<Network | undefined, NetworkDiffers | LedgerKeptByOthers | ImportUnfinished>> {
  const row = await read.network()
  // An import that began after this process opened the database writes the network before the rest of the ledger.
  if (await read.isImporting()) return err({ code: 'IMPORT_UNFINISHED' })
  if (row === undefined) return ok(undefined)
  const network = storedNetwork(row)
  const { networkName: found } = network.parameters
  if (expected !== undefined && found !== expected) {
    return err({ code: 'NETWORK_DIFFERS', found, expected })
  }
  // Only a ledger of embedded mode has epochs: of each slot, its own and all former ones. The ledger of nodes must not be continued by
  // this program: it would diverge.
  const { slot } = await read.latestMilestone()
  const epochs = await read.epochs(epochOfSlot(network.parameters, slot))
  const kept = epochs.length > 0 ? 'THIS_PROGRAM' : 'NODES'
  return kept === keptBy ? ok(network) : err({ code: 'LEDGER_KEPT_BY_OTHERS', keptBy: kept })
}

function storedNetwork(row: Pick<NetworkRow, 'parameters'>): Network {
  return networkOf(decodeStored(ProtocolParameters, row.parameters))
}
