import { setChainRecordRoute } from './chain-record.ts'
import { blockMetadataRoute, blockRoute, submitBlockRoute } from './core/blocks.ts'
import { infoRoute, issuanceRoute, routesRoute } from './core/info.ts'
import { outputRoute } from './core/outputs.ts'
import { health } from './health.ts'
import { ledgerUpdatesByAddress } from './ledger-updates.ts'
import type { Route } from './route.ts'

/** Every route of the REST surface. */
export const routes: readonly Route[] = [
  health,
  routesRoute,
  setChainRecordRoute,
  ledgerUpdatesByAddress,
  submitBlockRoute,
  infoRoute,
  issuanceRoute,
  blockRoute,
  blockMetadataRoute,
  outputRoute,
]
