/** The paths of the pages, below the root of the gateway. The gateway answers them, and nothing else, with the explorer. */

/** `:name` stands for one part of a path. */
export const pagePaths = {
  home: '/',
  search: '/search',
  milestones: '/milestones',
  blocks: '/blocks',
  transactions: '/transactions',
  milestone: '/milestone/:index',
  block: '/block/:id',
  transaction: '/transaction/:id',
  output: '/output/:id',
  address: '/address/:address',
  token: '/token/:id',
  foundry: '/foundry/:id',
  account: '/account/:id',
  nft: '/nft/:id',
  anchor: '/anchor/:id',
  delegation: '/delegation/:id',
  validators: '/validators',
  epoch: '/epoch/:index',
  chain: '/chain/:id',
  chains: '/chains',
  accounts: '/accounts',
  tokens: '/tokens',
  nfts: '/nfts',
  rich: '/rich',
  decode: '/decode',
  verify: '/verify',
  faucet: '/faucet',
  network: '/network',
  // `/health` is what load balancers ask.
  health: '/health-page',
} as const

export type PageName = keyof typeof pagePaths

/** The parts that a path names: `{ id: '0x…' }` for `/block/:id`. */
export type PageParameters = Readonly<Record<string, string>>

/** A page and what its path names. */
export interface PagePlace {
  readonly name: PageName
  readonly parameters: PageParameters
}

/** The page at a path below the root; `undefined` where there is none. */
export function pageAt(path: string): PagePlace | undefined {
  const parts = path.split('/')
  for (const [name, pattern] of Object.entries(pagePaths)) {
    const parameters = matched(pattern.split('/'), parts)
    if (parameters !== undefined) return { name: name as PageName, parameters }
  }
  return undefined
}

function matched(pattern: readonly string[], parts: readonly string[]): PageParameters | undefined {
  if (pattern.length !== parts.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [n, expected] of pattern.entries()) {
    const part = parts[n] ?? ''
    if (expected.startsWith(':') && part !== '') parameters[expected.slice(1)] = decodedPart(part)
    else if (expected !== part) return undefined
  }
  return parameters
}

/** A part of an address as it was before it was encoded; as it is where it was not. */
export function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
