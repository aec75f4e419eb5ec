import { type ChainKind, type ChainName, chainOf } from '../../ledger/chain-states.ts'
import { assert, present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { AccountAddress, AnchorAddress, NftAddress } from '../../protocol/addresses.ts'
import { addressKeyPrefix } from '../../protocol/ids.ts'
import {
  AccountOutput,
  AnchorOutput,
  DelegationOutput,
  FoundryOutput,
  NftOutput,
  type Output,
} from '../../protocol/outputs.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { OutputRow } from '../../store/rows.ts'
import { type OutputView, viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'

/** Chains: accounts, anchors, foundries, NFTs and delegations, which continue from output to output. */

/** A chain as of the end of a committed slot. */
export interface ChainView {
  readonly kind: ChainKind
  readonly chainId: Hex
  readonly slot: SlotIndex
  /** Number of states so far; `undefined` for a chain from a list, because lists do not read it. */
  readonly length: number | undefined
  /** The newest state; `undefined` for an account that has an entry but no output yet. */
  readonly last: OutputView | undefined
  /** The newest state while the chain exists; `undefined` once the chain is destroyed. */
  readonly current: OutputView | undefined
}

export const chainKinds = {
  ACCOUNT: AccountOutput.code,
  ANCHOR: AnchorOutput.code,
  FOUNDRY: FoundryOutput.code,
  NFT: NftOutput.code,
  DELEGATION: DelegationOutput.code,
} as const satisfies Record<string, ChainKind>

/** Reads chains by their ids, including destroyed chains, in one statement. Unknown chains are left out. */
export async function readChains(
  { store: { read } }: Pick<Services, 'store'>,
  chainIds: readonly Hex[],
): Promise<ReadonlyMap<Hex, ChainView>> {
  const states = await read.newestChainStates([...new Set(chainIds)])
  const chains = states.map(({ kind, chainId, ordinal, output, slot }) =>
    chainView({ kind, chainId, length: ordinal, row: output, slot }),
  )
  return new Map(chains.map((chain) => [chain.chainId, chain]))
}

/** Reads a chain of a kind; `undefined` if it never existed. */
export async function readChain(
  deps: Pick<Services, 'store'>,
  kind: ChainKind,
  chainId: Hex,
): Promise<ChainView | undefined> {
  const chain = (await readChains(deps, [chainId])).get(chainId)
  return chain?.kind === kind ? chain : undefined
}

/** Reads the account, anchor or NFT that has an address, given the key of the address; `undefined` for other addresses. */
export async function readChainOfAddress(
  deps: Pick<Services, 'store'>,
  address: Hex,
): Promise<ChainView | undefined> {
  const name = chainOfAddress(address)
  return name && (await readChain(deps, name.kind, name.chainId))
}

/** The chain that has an address; `undefined` for an address that is not of a chain. */
export function chainOfAddress(address: Hex): ChainName | undefined {
  const kind = kindByAddress.get(address.slice(0, 4))
  return kind && { kind, chainId: `0x${address.slice(4)}` }
}

/** Kinds of chains by the prefix of their address keys. */
const kindByAddress: ReadonlyMap<string, ChainKind> = new Map([
  [addressKeyPrefix(AccountAddress), chainKinds.ACCOUNT],
  [addressKeyPrefix(AnchorAddress), chainKinds.ANCHOR],
  [addressKeyPrefix(NftAddress), chainKinds.NFT],
])

/** Makes the view of a chain from its newest state. */
function chainView({
  row,
  ...chain
}: Omit<ChainView, 'last' | 'current'> & { readonly row: OutputRow }): ChainView {
  const last = viewOfOutput(row)
  const isSpent = last.spentSlot !== undefined && last.spentSlot <= chain.slot
  return {
    ...chain,
    slot: Math.max(chain.slot, row.bookedSlot),
    last,
    current: isSpent ? undefined : last,
  }
}

/** The newest output of a chain of a kind. */
export function stateOf<K extends Output['type']>(
  { last, chainId }: Pick<ChainView, 'last' | 'chainId'>,
  kind: K,
): Extract<Output, { readonly type: K }> {
  const output = present(last, `a state of ${chainId}`).output()
  assert(isOfKind(output, kind), `${chainId} is of the kind ${kind}`)
  return output
}

function isOfKind<K extends Output['type']>(
  output: Output,
  kind: K,
): output is Extract<Output, { readonly type: K }> {
  return output.type === kind
}

/** The chain that an output belongs to; `undefined` for an output that is not a state of a chain. */
export function chainOfOutput(
  view: Pick<OutputView, 'outputId' | 'output'>,
): ChainName | undefined {
  return chainOf(view.outputId, view.output())
}
