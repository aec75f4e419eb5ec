import type { Clock } from '../lib/clock.ts'
import { type Hex, hexToBytes } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { Secret } from '../lib/secret.ts'
import { keypairOf } from '../protocol/keys.ts'
import type { AccountId } from '../protocol/primitives.ts'
import { accountIdOfKey, developmentGenesis, developmentKeys } from './embedded/development.ts'
import type { EmbeddedDeps } from './embedded/open.ts'
import type { EnterError } from './enter-database.ts'
import type { GenesisPlan } from './genesis.ts'
import { type GenesisFileInvalid, readGenesisFile, readParametersFile } from './genesis-file.ts'
import type { IssuerAccount } from './issuer.ts'
import type { NodeDeps } from './node-core.ts'
import { opensslSigner } from './openssl-signer.ts'
import type { LedgerSource } from './source.ts'
import type { UpstreamError } from './upstream/open.ts'

/** Opens the ledger that the settings ask for. */

/** Why there is no ledger. */
export type LedgerError = EnterError | UpstreamError | GenesisFileInvalid

/** The settings of the ledger. */
export interface LedgerSettings {
  /** Where the ledger comes from: this process keeps it, or follows nodes that do. */
  readonly ledger: 'embedded' | 'upstream'
  /** The nodes to follow, in the order of preference, without a slash at their end; empty in embedded mode. */
  readonly upstreamUrls: readonly string[]
  /** Whether each output is checked against its proof. */
  readonly upstreamProofs: boolean
  /** The URL of a gateway or the path of a file that a new database in upstream mode begins with; `undefined` for the genesis. */
  readonly snapshot: string | undefined
  /** What a new ledger begins with, as JSON; `undefined` for the development genesis. */
  readonly genesisFile: string | undefined
  /** Protocol parameters as JSON; `undefined` for the development network. */
  readonly parametersFile: string | undefined
  /** The key of the node's own issuer account, or that there is none; `undefined` for the network's default. */
  readonly issuerKey: Secret | 'none' | undefined
  /** The id of that account; `undefined` for the hash of its public key. */
  readonly issuerAccount: string | undefined
  /** Megabytes of memory for parts of the ledger state, in embedded mode. */
  readonly stateMemory: number
}

/** Opens the ledger of this process, or that of the nodes that it follows. */
export function openLedger(
  settings: LedgerSettings,
  deps: EmbeddedDeps,
): Promise<Result<LedgerSource, LedgerError>> {
  return settings.ledger === 'upstream' ? upstream(settings, deps) : embedded(settings, deps)
}

/** The nodes serve the genesis, unless they are of a kind whose genesis comes from a file. */
async function upstream(
  settings: LedgerSettings,
  deps: NodeDeps,
): Promise<Result<LedgerSource, LedgerError>> {
  const genesis =
    settings.genesisFile === undefined ? undefined : await genesisPlan(settings, deps.clock)
  if (genesis !== undefined && !genesis.ok) return genesis
  const { openUpstream } = await import('./upstream/open.ts')
  return openUpstream(deps, {
    urls: settings.upstreamUrls,
    withProofs: settings.upstreamProofs,
    genesis: genesis?.value,
    snapshot: settings.snapshot,
    issuer: settings.issuerKey === undefined ? undefined : issuerOf(settings),
  })
}

/** The genesis comes from the files named in the settings, or is that of the development network. */
async function embedded(
  settings: LedgerSettings,
  deps: EmbeddedDeps,
): Promise<Result<LedgerSource, LedgerError>> {
  if ((await deps.store.read.snapshotProgress()) !== undefined) {
    return err({ code: 'SNAPSHOT_UNFINISHED' })
  }
  const plan = await genesisPlan(settings, deps.clock)
  if (!plan.ok) return plan
  const isNamed = settings.genesisFile !== undefined || settings.parametersFile !== undefined
  const { openEmbedded } = await import('./embedded/open.ts')
  const { stateMemoryOf } = await import('./embedded/state.ts')
  return openEmbedded(deps, {
    genesis: plan.value,
    networkName: isNamed ? plan.value.parameters.networkName : undefined,
    issuer: issuerOf(settings),
    memory: stateMemoryOf(settings.stateMemory),
  })
}

async function genesisPlan(
  { genesisFile, parametersFile }: LedgerSettings,
  clock: Clock,
): Promise<Result<GenesisPlan, GenesisFileInvalid>> {
  const plan =
    genesisFile === undefined
      ? ok(developmentGenesis(developmentKeys(), Number(clock.nowNs() / 1_000_000_000n)))
      : await readGenesisFile(genesisFile)
  if (!plan.ok || parametersFile === undefined) return plan
  const parameters = await readParametersFile(parametersFile)
  return parameters.ok ? ok({ ...plan.value, parameters: parameters.value }) : parameters
}

/** The account that the settings name; on the development network the node has one of its own. */
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
