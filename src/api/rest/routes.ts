import { chainRecordRoute, setChainRecordRoute } from './chain-record.ts'
import { activateRoute, chainsRoute, deactivateRoute } from './chains.ts'
import { blockFullRoute, blockMetadataRoute, blockRoute } from './core/blocks.ts'
import { commitmentRoutes } from './core/commitments.ts'
import { infoRoute, issuanceRoute, routesRoute } from './core/info.ts'
import { networkHealthRoute, networkMetricsRoute } from './core/network.ts'
import { outputFullRoute, outputMetadataRoute, outputRoute } from './core/outputs.ts'
import { submitBlockRoute } from './core/submit.ts'
import {
  includedBlockMetadataRoute,
  includedBlockRoute,
  transactionMetadataRoute,
  transactionRoute,
} from './core/transactions.ts'
import { feedUpdates } from './feed-updates.ts'
import { health } from './health.ts'
import { ledgerUpdatesByAddress } from './ledger-updates.ts'
import { withDocument } from './openapi.ts'
import type { Route } from './route.ts'

/** Every route of the REST surface. */
export const routes: readonly Route[] = withDocument([
  health,
  routesRoute,
  chainsRoute,
  chainRecordRoute,
  setChainRecordRoute,
  activateRoute,
  deactivateRoute,
  ledgerUpdatesByAddress,
  feedUpdates,
  submitBlockRoute,
  infoRoute,
  issuanceRoute,
  blockRoute,
  blockMetadataRoute,
  blockFullRoute,
  outputRoute,
  outputMetadataRoute,
  outputFullRoute,
  transactionRoute,
  transactionMetadataRoute,
  includedBlockRoute,
  includedBlockMetadataRoute,
  ...commitmentRoutes,
  networkHealthRoute,
  networkMetricsRoute,
])
