/** The paths of the pages, below the root of the gateway. The gateway serves the explorer at these paths only. */

/** Path patterns of the pages; `:name` matches one segment. */
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
  // `/health` is the path for load balancers.
  health: '/health-page',
} as const

export type PageName = keyof typeof pagePaths

/** The names of the tools, each a page. */
export const tools = [
  'decode',
  'verify',
  'faucet',
  'network',
  'rich',
  'health',
] as const satisfies PageName[]

/** The parameters in a path: `{ id: '0x…' }` for `/block/:id`. */
export type PageParameters = Readonly<Record<string, string>>

/** A page with the parameters in its path. */
export interface PagePlace {
  readonly name: PageName
  readonly parameters: PageParameters
}

/** The page at a path below the root; `undefined` if there is none. */
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

/** Decodes a segment of a URL; returns it unchanged if it is not validly encoded. */
export function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
