import type { Page } from './page.tsx'
import { page as home } from './pages/home.tsx'
import type { PageName } from './paths.ts'

/** The module of each page. All modules but the home page are loaded when they are first opened. */
export const pageModules: Readonly<Record<PageName, () => Promise<{ readonly page: Page }>>> = {
  home: async () => ({ page: home }),
  search: () => import('./pages/search.tsx'),
  milestones: () => import('./pages/milestones.tsx'),
  blocks: () => import('./pages/blocks.tsx'),
  transactions: () => import('./pages/transactions.tsx'),
  milestone: () => import('./pages/milestone.tsx'),
  block: () => import('./pages/block.tsx'),
  transaction: () => import('./pages/transaction.tsx'),
  output: () => import('./pages/output.tsx'),
  address: () => import('./pages/address.tsx'),
  token: () => import('./pages/token.tsx'),
  foundry: () => import('./pages/foundry.tsx'),
  account: () => import('./pages/account.tsx'),
  nft: () => import('./pages/nft.tsx'),
  anchor: () => import('./pages/anchor.tsx'),
  delegation: () => import('./pages/delegation.tsx'),
  validators: () => import('./pages/validators.tsx'),
  epoch: () => import('./pages/validators.tsx'),
  chain: () => import('./pages/chain.tsx'),
  chains: () => import('./pages/chains.tsx'),
  accounts: () => import('./pages/accounts.tsx'),
  tokens: () => import('./pages/tokens.tsx'),
  nfts: () => import('./pages/nfts.tsx'),
  rich: () => import('./pages/rich.tsx'),
  decode: () => import('./pages/decode.tsx'),
  verify: () => import('./pages/verify.tsx'),
  faucet: () => import('./pages/faucet.tsx'),
  network: () => import('./pages/network.tsx'),
  health: () => import('./pages/health.tsx'),
}
