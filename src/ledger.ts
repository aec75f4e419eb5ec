import type { Config } from './config.ts'
import type { Wake } from './feed/wake.ts'
import type { Clock } from './lib/clock.ts'
import type { GuardedClock } from './lib/guarded-clock.ts'
import { type Hex, hexToBytes } from './lib/hex.ts'
import type { Log } from './lib/log.ts'
import { ok, type Result } from './lib/result.ts'
import { accountIdOfKey, developmentGenesis, developmentKeys } from './node/embedded/development.ts'
import type { GenesisPlan } from './node/embedded/genesis.ts'
import {
  type GenesisFileInvalid,
  readGenesisFile,
  readParametersFile,
} from './node/embedded/genesis-file.ts'
import type { IssuerAccount } from './node/embedded/issuer.ts'
import type { EmbeddedError } from './node/embedded/open.ts'
import { nameOfThisProcess } from './node/lease-holder.ts'
import type { SignatureChecker } from './node/signatures.ts'
import type { LedgerSource } from './node/source.ts'
import type { UpstreamError } from './node/upstream/open.ts'
import { keypairOf } from './protocol/keys.ts'
import type { AccountId } from './protocol/primitives.ts'
import type { Store } from './store/contract.ts'

/** Opens the ledger that the settings ask for. */

/** Why there is no ledger. */
export type LedgerError = EmbeddedError | UpstreamError | GenesisFileInvalid

/** What the ledger needs of the gateway. */
export interface LedgerDeps {
  readonly store: Store
  readonly clock: GuardedClock
  readonly log: Log
  readonly signatures: SignatureChecker
  readonly wake: Wake
}

/** The ledger inside, or that of the nodes behind. */
export function openLedger(
  config: Config,
  deps: LedgerDeps,
): Promise<Result<LedgerSource, LedgerError>> {
  return config.ledger === 'upstream' ? openBehind(config, deps) : openInside(config, deps)
}

/** Founded from what the nodes tell; the genesis alone may have to come from a file. */
async function openBehind(
  config: Config,
  deps: LedgerDeps,
): Promise<Result<LedgerSource, LedgerError>> {
  const genesis =
    config.genesisFile === undefined ? undefined : await genesisPlan(config, deps.clock)
  if (genesis !== undefined && !genesis.ok) return genesis
  const { openUpstream } = await import('./node/upstream/open.ts')
  return openUpstream(
    { ...deps, holder: nameOfThisProcess(), onCommitted: deps.wake.notify },
    {
      urls: config.upstreamUrls,
      withProofs: config.upstreamProofs === 'on',
      genesis: genesis?.value,
      issuer: config.issuerKey === undefined ? undefined : issuerOf(config),
    },
  )
}

/** Founded from the files named in the settings, or as the development network. */
async function openInside(
  config: Config,
  deps: LedgerDeps,
): Promise<Result<LedgerSource, LedgerError>> {
  const plan = await genesisPlan(config, deps.clock)
  if (!plan.ok) return plan
  const isNamed = config.genesisFile !== undefined || config.parametersFile !== undefined
  const { openEmbedded } = await import('./node/embedded/open.ts')
  return openEmbedded(
    {
      ...deps,
      holder: nameOfThisProcess(),
      onCommitted: deps.wake.notify,
    },
    {
      genesis: plan.value,
      networkName: isNamed ? plan.value.parameters.networkName : undefined,
      issuer: issuerOf(config),
    },
  )
}

async function genesisPlan(
  config: Config,
  clock: Clock,
): Promise<Result<GenesisPlan, GenesisFileInvalid>> {
  if (config.genesisFile !== undefined) {
    const plan = await readGenesisFile(config.genesisFile)
    if (!plan.ok || config.parametersFile === undefined) return plan
    const parameters = await readParametersFile(config.parametersFile)
    return parameters.ok ? ok({ ...plan.value, parameters: parameters.value }) : parameters
  }
  const development = developmentGenesis(developmentKeys(), Number(clock.nowNs() / 1_000_000_000n))
  if (config.parametersFile === undefined) return ok(development)
  const parameters = await readParametersFile(config.parametersFile)
  return parameters.ok ? ok({ ...development, parameters: parameters.value }) : parameters
}

/** The account that the settings name; on the development network the node has its own. */
function issuerOf(config: Config): IssuerAccount | undefined {
  const { issuerKey, issuerAccount, genesisFile } = config
  if (issuerKey === 'none') return undefined
  if (issuerKey === undefined && genesisFile !== undefined) return undefined
  const key =
    issuerKey === undefined
      ? developmentKeys().issuer
      : keypairOf(hexToBytes(issuerKey.reveal() as Hex))
  return { key, accountId: (issuerAccount as AccountId | undefined) ?? accountIdOfKey(key) }
}
