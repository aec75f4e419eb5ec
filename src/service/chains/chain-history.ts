import { ok, type Result } from '../../lib/result.ts'
import type { ChainStateRow } from '../../store/chain-contract.ts'
import type { Services } from '../services.ts'
import { cursorOf, type ListPage, type PageError, type PageQuestion, readPage } from './page.ts'
import type { ChainView } from './read-chain.ts'

/** The states that a chain has had, also once it is destroyed and when the log is pruned. */

/** A state of a chain. */
export type ChainState = ChainStateRow

/** A page of them, and how many there are in all. */
export interface ChainHistory extends ListPage<ChainState> {
  readonly totalCount: number
}

/** Lists the states of a chain up to the one that the view knows as its newest. */
export async function listChainStates(
  { store }: Pick<Services, 'store'>,
  { chainId, length }: Pick<ChainView, 'chainId' | 'length'>,
  question: PageQuestion,
): Promise<Result<ChainHistory, PageError>> {
  const page = await readPage<ChainState, number>(question, {
    parse: (text) => (/^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : undefined),
    positionOf: ({ ordinal }) => ordinal,
    compare: (a, b) => a - b,
    read: ({ below = length + 1, ...interval }) =>
      store.read.chainStates(chainId, { ...interval, below: Math.min(below, length + 1) }),
  })
  return page.ok ? ok({ ...page.value, totalCount: length }) : page
}

/** The cursor of a state: its place among the states of its chain. */
export function encodeStateCursor({ ordinal }: Pick<ChainState, 'ordinal'>): string {
  return cursorOf(`${ordinal}`)
}
