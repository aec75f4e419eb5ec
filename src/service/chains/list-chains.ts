import type { ChainKind } from '../../ledger/chain-states.ts'
import { chainId } from '../../ledger/chains.ts'
import { chainHolderKey, type IndexKey } from '../../ledger/index-keys.ts'
import { assert } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { ok } from '../../lib/result.ts'
import { keysetCursors } from '../lists/keyset-cursor.ts'
import {
  type KeysetList,
  type PageArguments,
  type Paged,
  readKeysetPage,
} from '../lists/keyset-page.ts'
import { allBookings, bookingPosition } from '../lists/list-outputs.ts'
import { type OutputView, viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import { type ChainView, chainKinds } from './read-chain.ts'

/** Lists the existing chains of a kind, by the time of their last change. */

export interface ChainsRequest {
  readonly kind: ChainKind
  /** Index keys that every listed chain has: at most two, or one together with `heldBy`. */
  readonly keys?: readonly IndexKey[] | undefined
  /** The address that holds every listed chain as of the newest milestone. Not for anchors. */
  readonly heldBy?: Hex | undefined
}

/** Lists chains by their newest outputs, with one read per page. */
export async function listChains(
  deps: Pick<Services, 'store'>,
  { kind, keys = [], heldBy }: ChainsRequest,
  args: PageArguments,
): Paged<ChainView> {
  const { read } = deps.store
  const all = heldBy === undefined ? keys : [holderOf(kind, heldBy), ...keys]
  const list: KeysetList<OutputView> = {
    cursors: chainCursors,
    whole: allBookings,
    positionOf: bookingPosition,
    read: async (part, page) =>
      (await read.aliveChains({ ...part, ...page, kind, keys: all })).map(viewOfOutput),
  }
  const page = await readKeysetPage(list, args)
  return page.ok ? ok({ ...page.value, nodes: await viewsOf(deps, kind, page.value.nodes) }) : page
}

const chainCursors = keysetCursors({ list: 'chain', values: ['NUMBER', 38] })

function holderOf(kind: ChainKind, address: Hex): IndexKey {
  assert(kind !== chainKinds.ANCHOR, 'a kind of chains that are found by their holder')
  return chainHolderKey(kind, address)
}

/** Views of the listed chains, in the state in which they were read, even if a later commit changes or destroys a chain. */
async function viewsOf(
  { store: { read } }: Pick<Services, 'store'>,
  kind: ChainKind,
  outputs: readonly OutputView[],
): Promise<ChainView[]> {
  if (outputs.length === 0) return []
  const { slot } = await read.logTip()
  return outputs.map((current) => ({
    kind,
    chainId: chainId(current.output(), current.outputId),
    slot: Math.max(slot, current.bookedSlot),
    length: undefined,
    last: current,
    current,
  }))
}
