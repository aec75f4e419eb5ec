import { present } from '../../../lib/assert.ts'
import { maxHits, type Nothing } from '../../../service/search/look-up.ts'
import type { Meaning } from '../../../service/search/meanings.ts'
import { type Hit, type SearchResult, search } from '../../../service/search/search.ts'
import { builder } from '../builder.ts'
import { enumOf, exposed } from '../declare.ts'
import { free, itemsCost } from '../execution/prices.ts'
import { AccountNode } from './account.ts'
import { AddressNode, viewOfKey } from './address-node.ts'
import { BlockNode } from './block.ts'
import { AnchorNode, DelegationNode, NftNode, TokenNode } from './chain-kinds.ts'
import { ChainRecord } from './chain-records.ts'
import { Milestone } from './milestone.ts'
import { OutputNode } from './output.ts'
import { TransactionNode } from './transaction.ts'

/** Search for objects by a text. */

const typeByKind = {
  BLOCK: BlockNode,
  TRANSACTION: TransactionNode,
  MILESTONE: Milestone,
  OUTPUT: OutputNode,
  ACCOUNT: AccountNode,
  ANCHOR: AnchorNode,
  TOKEN: TokenNode,
  NFT: NftNode,
  DELEGATION: DelegationNode,
  ADDRESS: AddressNode,
  CHAIN_RECORD: ChainRecord,
} as const satisfies Record<Hit['kind'], object>

/** Symbol under which the values of the union have their kind. */
const kindOf = Symbol('kind')

const SearchThing = builder.unionType('SearchThing', {
  description: 'An object that a search can find.',
  types: Object.values(typeByKind),
  resolveType: (thing) =>
    typeByKind[present((thing as Partial<KindOf>)[kindOf], 'the kind of a hit')].name,
})

interface KindOf {
  readonly [kindOf]: Hit['kind']
}

const SearchMatch = enumOf<Meaning['by']>(
  'SearchMatch',
  'The property of an object that a search text matches.',
  {
    BLOCK_ID: 'The text is the id of the block.',
    TRANSACTION_ID: 'The text is the id of the transaction.',
    COMMITMENT_ID: 'The text is the id of the commitment of the milestone.',
    OUTPUT_ID: 'The text is the id of the output.',
    CHAIN_ID: 'The text is the id of the account, anchor, NFT, delegation or foundry.',
    BECH32: 'The text is the address in Bech32, or the address of the chain in Bech32.',
    CHAIN_RECORD: 'The text is the address of the chain that has the record.',
    ADDRESS_BYTES: 'The text is the serialized address.',
    PUBLIC_KEY_HASH: 'The text is the hash of the public key of the address.',
    PUBLIC_KEY: 'The text is the public key of the address.',
    MILESTONE_INDEX: 'The text is the index of the milestone.',
    TIME: 'The text is a time within the slot of the milestone.',
    ID_BEGINNING: 'The text is the beginning of the id.',
    TAG: 'The text is the tag of the unspent output, as text or as hexadecimal digits.',
  },
)

const SearchNothing = enumOf<Nothing['reason']>(
  'SearchNothing',
  'The reason why a search finds nothing.',
  {
    UNKNOWN: 'The text is valid, but no object in this ledger matches it.',
    MALFORMED: 'The text resembles a known format but is invalid, such as Bech32 with a typo.',
    TOO_SHORT: 'The text has fewer than eight hexadecimal digits.',
    OTHER_NETWORK: 'The text is an address of another network.',
    BEFORE_GENESIS: 'The text is a time or a milestone before the genesis of the network.',
    NOT_COMMITTED: 'The text is a time or a milestone that is not committed yet.',
    NOT_KEPT_BY_NODE:
      'In upstream mode: the object exists, but is neither stored here nor at the node.',
    NOT_TOLD_BY_NODE:
      'In upstream mode: the object is not stored here, and the node cannot be queried now.',
  },
)

const SearchHit = builder.objectRef<Hit>('SearchHit').implement({
  description: 'An object that a search has found.',
  fields: (t) => ({
    match: t.field({
      type: SearchMatch,
      description: 'The property of the object that the text matches.',
      resolve: ({ by }) => by,
    }),
    thing: t.field({
      complexity: free,
      type: SearchThing,
      description: 'The object.',
      resolve: ({ kind, thing }) =>
        typeof thing === 'string'
          ? { ...viewOfKey(thing), [kindOf]: kind }
          : { ...thing, [kindOf]: kind },
    }),
  }),
})

const SearchResultType = builder.objectRef<SearchResult>('SearchResult').implement({
  description: 'The result of a search: the objects found, or the reason why there are none.',
  fields: (t) => ({
    ...exposed(t, [SearchHit], {
      hits: `The objects found, the most exact match first, at most ${maxHits}.`,
    }),
    reason: t.field({
      type: SearchNothing,
      nullable: true,
      description: 'The reason why nothing is found. Null if there are hits.',
      resolve: ({ nothing }) => nothing?.reason,
    }),
    message: t.string({
      nullable: true,
      description: 'The reason as a sentence for people. Null if there are hits.',
      resolve: ({ nothing }) => nothing?.sentence,
    }),
  }),
})

builder.queryField('search', (t) =>
  t.field({
    type: SearchResultType,
    description:
      'The objects that a text identifies. The text can be an id or its first eight or more hexadecimal digits (with or without 0x), a Bech32 address, a public key, the index of a milestone, a Unix time (in units from seconds to nanoseconds), an ISO 8601 date, or a tag.',
    complexity: itemsCost(maxHits),
    args: {
      text: t.arg.string({
        required: true,
        description:
          'The text to search for: up to 1000 characters. Surrounding white space is ignored.',
      }),
    },
    resolve: (_root, { text }, { services }) => search(services, text),
  }),
)
