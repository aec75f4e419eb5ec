import { ok, type Result } from '../../lib/result.ts'
import type { ChainStateRow } from '../../store/contract/chain.ts'
import { keysetCursors } from '../lists/keyset-cursor.ts'
import {
  type KeysetList,
  type KeysetPage,
  type ListError,
  type PageArguments,
  readKeysetPage,
} from '../lists/keyset-page.ts'
import type { Services } from '../services.ts'
import type { ChainView } from './read-chain.ts'

/** The states of a chain, also after its destruction and after the log was pruned. */

export type ChainState = ChainStateRow

/** A page of states, and the total number of states. */
export interface ChainHistory extends KeysetPage<ChainState> {
  readonly totalCount: number
}

/** Lists the first `length` states of a chain. */
export async function listChainStates(
  { store }: Pick<Services, 'store'>,
  { chainId, length }: Pick<ChainView, 'chainId'> & { readonly length: number },
  args: PageArguments,
): Promise<Result<ChainHistory, ListError>> {
  const list: KeysetList<ChainState> = {
    // A position is a number of this chain alone.
    cursors: keysetCursors({ list: `state ${chainId}`, values: ['NUMBER'] }),
    whole: { above: [0], below: [length + 1] },
    positionOf: ({ ordinal }) => [ordinal],
    read: (part, page) => store.read.chainStates(chainId, part, page),
  }
  const page = await readKeysetPage(list, args)
  return page.ok ? ok({ ...page.value, totalCount: length }) : page
}
