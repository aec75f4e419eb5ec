import type { ChainKind } from '../../ledger/chain-states.ts'
import { chainId } from '../../ledger/chains.ts'
import { chainOwnerKey, type IndexKey } from '../../ledger/index-keys.ts'
import type { Hex } from '../../lib/hex.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { OutputPosition } from '../../store/view-contract.ts'
import { type OutputView, viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import { cursorOf, type ListPage, type PageError, type PageQuestion, readPage } from './page.ts'
import { type ChainView, chainKinds, readChains } from './read-chain.ts'

/** The chains of a kind that are not destroyed, by when they changed last. */

/** Which chains. */
export interface ChainsQuestion extends PageQuestion {
  readonly kind: ChainKind
  /** Index keys that each has; at most two, and one beside `heldBy`. */
  readonly keys: readonly IndexKey[]
  /** The address that owns each as of the newest milestone: of one that expires, the one of the two whose turn it is. Anchors have none. */
  readonly heldBy?: Hex | undefined
}

/** A page of chains. */
export interface ChainPage extends ListPage<ChainView> {}

/** Lists chains by their newest outputs: two reads a page, and one for its views. */
export async function listChains(
  deps: Pick<Services, 'store'>,
  { kind, keys, heldBy, ...question }: ChainsQuestion,
): Promise<Result<ChainPage, PageError>> {
  const { read } = deps.store
  const scans = heldBy === undefined ? [{ keys, isUnexpiring: false }] : ownedBy(heldBy, kind, keys)
  const page = await readPage<OutputRow, OutputPosition>(question, {
    parse: parsePlace,
    positionOf: (row) => row,
    compare: comparePlaces,
    read: async (interval) => {
      const found = await Promise.all(
        scans.map((scan) => read.aliveChains({ ...interval, ...scan, kind })),
      )
      const sign = interval.order === 'ascending' ? 1 : -1
      return found
        .flat()
        .sort((a, b) => sign * comparePlaces(a, b))
        .slice(0, interval.limit)
    },
  })
  if (!page.ok) return page
  const { rows, ...ends } = page.value
  return ok({ ...ends, rows: await chainsOf(deps, kind, rows.map(viewOfOutput)) })
}

/** NFTs that expire have a holder of their own, and no other chains expire. */
function ownedBy(address: Hex, kind: ChainKind, keys: readonly IndexKey[]) {
  const isNft = kind === chainKinds.NFT
  const owned = { keys: [chainOwnerKey(kind, address), ...keys], isUnexpiring: isNft }
  const holder = { kind: 'HOLDER', value: address } as const
  return isNft ? [owned, { keys: [holder, ...keys], isUnexpiring: false }] : [owned]
}

/** What a list found alive is shown alive, and as it was found, whatever is committed meanwhile. */
async function chainsOf(
  deps: Pick<Services, 'store'>,
  kind: ChainKind,
  outputs: readonly OutputView[],
): Promise<ChainView[]> {
  const ids = outputs.map((view) => chainId(view.output(), view.outputId))
  const chains = await readChains(deps, ids)
  return outputs.flatMap((current, i) => {
    const chain = chains.get(ids[i] ?? '0x')
    return chain === undefined ? [] : [{ ...chain, kind, last: current, current }]
  })
}

/** The cursor of a chain in a list: the place of its newest output. */
export function encodeChainCursor({ current }: Pick<ChainView, 'current'>): string {
  return cursorOf(current === undefined ? '' : `${current.bookedSlot}.${current.outputId}`)
}

function parsePlace(text: string): OutputPosition | undefined {
  const [, slot, id] = /^([0-9]{1,10})\.(0x[0-9a-f]{76})$/.exec(text) ?? []
  if (slot === undefined || id === undefined) return undefined
  return { bookedSlot: Number(slot), outputId: id as OutputPosition['outputId'] }
}

/** Lower-case hex compares like its bytes. */
function comparePlaces(a: OutputPosition, b: OutputPosition): number {
  if (a.bookedSlot !== b.bookedSlot) return a.bookedSlot - b.bookedSlot
  if (a.outputId === b.outputId) return 0
  return a.outputId < b.outputId ? -1 : 1
}
