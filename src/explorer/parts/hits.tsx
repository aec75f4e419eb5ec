import type { SearchPageData } from '../../generated/explorer/search.ts'
import { grouped, shortened, words } from '../format.ts'
import { linkTo } from '../router.ts'
import { texts } from '../texts.ts'
import { chainPages } from './values/chain-id.tsx'

/** Search results as links. */

export type SearchHit = SearchPageData['search']['hits'][number]

export interface Hit {
  readonly key: string
  readonly kind: string
  /** Heading under which the result is listed. */
  readonly group: string
  readonly label: string
  readonly address: string
}

export function hitOf({ thing }: SearchHit): Hit {
  const { __typename: typename } = thing
  const [label, address] = labelAndAddress(thing)
  const group = texts.search.groups[typename]
  return { key: `${typename} ${address}`, kind: words(typename), group, label, address }
}

function labelAndAddress(thing: SearchHit['thing']): readonly [label: string, address: string] {
  switch (thing.__typename) {
    case 'Block':
      return [shortened(thing.blockId), linkTo('block', { id: thing.blockId })]
    case 'Transaction':
      return [shortened(thing.transactionId), linkTo('transaction', { id: thing.transactionId })]
    case 'Milestone':
      return [grouped(thing.index), linkTo('milestone', { index: String(thing.index) })]
    case 'Output':
      return [shortened(thing.outputId), linkTo('output', { id: thing.outputId })]
    case 'Address':
      return [shortened(thing.bech32), linkTo('address', { address: thing.bech32 })]
    case 'ChainRecord':
      return [shortened(thing.recordOf), linkTo('chain', { id: thing.recordOf })]
    default:
      return [shortened(thing.chainId), linkTo(chainPages[thing.__typename], { id: thing.chainId })]
  }
}
