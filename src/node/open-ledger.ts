import { present } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { type Hex, hexToBytes } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { Secret } from '../lib/secret.ts'
import { keypairOf } from '../protocol/keys.ts'
import type { AccountId } from '../protocol/primitives.ts'
import { nsPerSecond } from '../protocol/slots.ts'
import { accountIdOfKey, developmentGenesis, developmentKeys } from './embedded/development.ts'
import type { EmbeddedDeps } from './embedded/open.ts'
import type { EnterError } from './enter-database.ts'
import type { GenesisPlan } from './genesis.ts'
import {
  amountsWrong,
  type GenesisFileInvalid,
  readGenesisFile,
  readParametersFile,
} from './genesis-file.ts'
import type { IssuerAccount } from './issuer.ts'
import type { NodeDeps } from './node-core.ts'
import { opensslSigner } from './openssl-signer.ts'
import type { LedgerSource } from './source.ts'
import type { UpstreamError } from './upstream/open.ts'

/** Opens the ledger that the settings select. */

/** Why the ledger could not be opened. */
export type LedgerError = EnterError | UpstreamError

export interface LedgerSettings {
  /** The mode: this program keeps the ledger, or follows nodes that keep it. */
  readonly ledger: 'embedded' | 'upstream'
  /** URLs of the nodes to follow, in order of preference, without a trailing slash; empty in embedded mode. */
  readonly upstreamUrls: readonly string[]
  /** Whether each output is checked against its proof. */
  readonly upstreamProofs: boolean
  /** URL of a gateway or path of a snapshot file that initializes a new database in upstream mode; `undefined` for the genesis. */
  readonly snapshot: string | undefined
  /** Path of the genesis of a new ledger; `undefined` for the development genesis. */
  readonly genesisFile: string | undefined
  /** Path of the protocol parameters as JSON; `undefined` for the parameters of the genesis. */
  readonly parametersFile: string | undefined
  /** The key of the node's own issuer account; `none` for no account; `undefined` for the default of the network. */
  readonly issuerKey: Secret | 'none' | undefined
  /** The id of the issuer account; `undefined` for the hash of its public key. */
  readonly issuerAccount: string | undefined
  /** Megabytes of memory for caches of the ledger state, in embedded mode. */
  readonly stateMemory: number
}

/** The settings for the genesis of a new ledger. */
export type GenesisSettings = Pick<LedgerSettings, 'ledger' | 'genesisFile' | 'parametersFile'>

/**
 * Reads the genesis of a new ledger: the files in the settings, or the genesis of the development network; `undefined` if the nodes
 * serve it. Called before anything is written.
 */
export async function planGenesis(
  { ledger, genesisFile, parametersFile }: GenesisSettings,
  clock: Clock,
): Promise<Result<GenesisPlan | undefined, GenesisFileInvalid>> {
  if (ledger === 'upstream' && genesisFile === undefined) return ok(undefined)
  const plan =
    genesisFile === undefined
      ? ok(developmentGenesis(developmentKeys(), Number(clock.nowNs() / nsPerSecond)))
      : await readGenesisFile(genesisFile)
  if (!plan.ok || parametersFile === undefined) return plan
  const parameters = await readParametersFile(parametersFile)
  if (!parameters.ok) return parameters
  const combined = { ...plan.value, parameters: parameters.value }
  const reason = amountsWrong(combined)
  if (reason === undefined) return ok(combined)
  return err({ code: 'GENESIS_FILE_INVALID', path: parametersFile, reason })
}

/** Opens the ledger in the mode of the settings. */
export function openLedger(
  settings: LedgerSettings,
  deps: EmbeddedDeps,
  genesis: GenesisPlan | undefined,
): Promise<Result<LedgerSource, LedgerError>> {
  return settings.ledger === 'upstream'
    ? upstream(settings, deps, genesis)
    : embedded(settings, deps, present(genesis, 'the genesis of an embedded ledger'))
}

/** Follows nodes. The nodes serve the genesis, unless the settings name a genesis file. */
async function upstream(
  settings: LedgerSettings,
  deps: NodeDeps,
  genesis: GenesisPlan | undefined,
): Promise<Result<LedgerSource, LedgerError>> {
  const { openUpstream } = await import('./upstream/open.ts')
  return openUpstream(deps, {
    urls: settings.upstreamUrls,
    withProofs: settings.upstreamProofs,
    genesis,
    snapshot: settings.snapshot,
    issuer: settings.issuerKey === undefined ? undefined : issuerOf(settings),
  })
}

/** Keeps the ledger here. */
async function embedded(
  settings: LedgerSettings,
  deps: EmbeddedDeps,
  genesis: GenesisPlan,
): Promise<Result<LedgerSource, LedgerError>> {
  if ((await deps.store.read.snapshotProgress()) !== undefined) {
    return err({ code: 'SNAPSHOT_UNFINISHED' })
  }
  const isNamed = settings.genesisFile !== undefined || settings.parametersFile !== undefined
  const { openEmbedded } = await import('./embedded/open.ts')
  const { stateMemoryOf } = await import('./embedded/state.ts')
  return openEmbedded(deps, {
    genesis,
    networkName: isNamed ? genesis.parameters.networkName : undefined,
    issuer: issuerOf(settings),
    memory: stateMemoryOf(settings.stateMemory),
  })
}

/** The account that the settings name; on the development network, the node's own account by default. */
function issuerOf(settings: LedgerSettings): IssuerAccount | undefined {
  const { issuerKey, issuerAccount, genesisFile } = settings
  if (issuerKey === 'none') return undefined
  if (issuerKey === undefined && genesisFile !== undefined) return undefined
  const key =
    issuerKey === undefined
      ? developmentKeys().issuer
      : keypairOf(hexToBytes(issuerKey.reveal() as Hex), opensslSigner)
  return { key, accountId: (issuerAccount as AccountId | undefined) ?? accountIdOfKey(key) }
}
