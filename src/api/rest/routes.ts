import { addressHistoryRoute } from './address-history.ts'
import { chainRecordRoute, setChainRecordRoute } from './chain-record.ts'
import { activateRoute, chainsRoute, deactivateRoute } from './chains.ts'
import {
  committeeRoute,
  congestionRoute,
  validatorRoute,
  validatorsRoute,
} from './core/accounts.ts'
import { blockFullRoute, blockMetadataRoute, blockRoute } from './core/blocks.ts'
import { commitmentRoutes } from './core/commitments.ts'
import { infoRoute, issuanceRoute, routesRoute } from './core/info.ts'
import { networkHealthRoute, networkMetricsRoute } from './core/network.ts'
import { outputFullRoute, outputMetadataRoute, outputRoute } from './core/outputs.ts'
import { rewardsRoute } from './core/rewards.ts'
import { submitBlockRoute } from './core/submit.ts'
import {
  includedBlockMetadataRoute,
  includedBlockRoute,
  transactionMetadataRoute,
  transactionRoute,
} from './core/transactions.ts'
import { childrenRoutes, milestoneBlocksRoutes } from './explorer/blocks.ts'
import { updatesByMilestone, updatesBySlot } from './explorer/milestone-updates.ts'
import { commitmentsRoute, milestonesRoute } from './explorer/milestones.ts'
import {
  balanceRoute,
  balanceWithManaRoute,
  distributionRoutes,
  richestRoutes,
} from './explorer/statistics.ts'
import { faucetRoute } from './faucet.ts'
import { feedUpdates } from './feed-updates.ts'
import { logRoute } from './gateway-log.ts'
import { health, live, ready } from './health.ts'
import { chainRoutes, indexerHealthRoute, multiAddressRoute } from './indexer/chains.ts'
import { outputListRoutes } from './indexer/outputs.ts'
import { ledgerUpdatesByAddress, slotUpdatesByAddress } from './ledger-updates.ts'
import { withDocument } from './openapi.ts'
import type { Route } from './route.ts'
import { snapshotRoute } from './snapshot.ts'
import { forwardedUpstream, notOfferedByNodes } from './upstream-only.ts'

export const routes: readonly Route[] = withDocument([
  health,
  ready,
  live,
  logRoute,
  snapshotRoute,
  addressHistoryRoute,
  routesRoute,
  chainsRoute,
  chainRecordRoute,
  setChainRecordRoute,
  activateRoute,
  deactivateRoute,
  ledgerUpdatesByAddress,
  slotUpdatesByAddress,
  updatesByMilestone,
  updatesBySlot,
  milestonesRoute,
  commitmentsRoute,
  ...milestoneBlocksRoutes.map((route) => notOfferedByNodes(route, 'the blocks of a milestone')),
  ...childrenRoutes.map((route) => notOfferedByNodes(route, 'the children of a block')),
  balanceRoute,
  balanceWithManaRoute,
  ...richestRoutes,
  ...distributionRoutes,
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
  forwardedUpstream(congestionRoute),
  forwardedUpstream(rewardsRoute),
  forwardedUpstream(validatorsRoute),
  forwardedUpstream(validatorRoute),
  // iota-core knows only `epoch`, and ignores other names.
  forwardedUpstream(committeeRoute, { epochIndex: 'epoch' }),
  networkHealthRoute,
  forwardedUpstream(networkMetricsRoute),
  ...outputListRoutes,
  ...chainRoutes,
  multiAddressRoute,
  indexerHealthRoute,
  faucetRoute,
])
