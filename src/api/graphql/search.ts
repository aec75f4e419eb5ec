import { present } from '../../lib/assert.ts'
import { maxHits, type Nothing } from '../../service/search/look-up.ts'
import type { Meaning } from '../../service/search/meanings.ts'
import { type Hit, type SearchResult, search } from '../../service/search/search.ts'
import { AccountNode } from './account.ts'
import { AddressNode, viewOfKey } from './address-node.ts'
import { BlockNode } from './block.ts'
import { builder } from './builder.ts'
import { AnchorNode, DelegationNode, NftNode, TokenNode } from './chain-kinds.ts'
import { ChainRecord } from './chain-records.ts'
import { enumOf } from './enum-of.ts'
import { Milestone } from './milestone.ts'
import { OutputNode } from './output.ts'
import { free, itemsCost } from './prices.ts'
import { TransactionNode } from './transaction.ts'

/** What a text names. */

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

/** Marks the values of the union with their kind, which they do not have themselves. */
const kindOf = Symbol('kind')

const SearchThing = builder.unionType('SearchThing', {
  description: 'What a text may name.',
  types: Object.values(typeByKind),
  resolveType: (thing) =>
    typeByKind[present((thing as Partial<KindOf>)[kindOf], 'the kind of a hit')].name,
})

interface KindOf {
  readonly [kindOf]: Hit['kind']
}

const SearchMatch = enumOf<Meaning['by']>(
  'SearchMatch',
  'What a text is of the thing that is found.',
  {
    BLOCK_ID: 'It is the id of the block.',
    TRANSACTION_ID: 'It is the id of the transaction.',
    COMMITMENT_ID: 'It is the id of the commitment.',
    OUTPUT_ID: 'It is the id of the output.',
    CHAIN_ID: 'It is the id of the account, anchor, NFT, delegation or foundry.',
    BECH32: 'It is the address as text, of the thing itself where that has one.',
    CHAIN_RECORD: 'It is the address whose chain has the record.',
    ADDRESS_BYTES: 'It is the serialized address.',
    PUBLIC_KEY_HASH: 'It is the hash of the public key that the address is of.',
    PUBLIC_KEY: 'It is the public key that the address is of.',
    MILESTONE_INDEX: 'It is the index of the milestone.',
    TIME: 'It is a time in the slot of the milestone.',
    ID_BEGINNING: 'The id begins with it.',
    TAG: 'It is the tag of the unspent output, as text or as hexadecimal digits.',
  },
)

const SearchNothing = enumOf<Nothing['reason']>('SearchNothing', 'Why nothing is found.', {
  UNKNOWN: 'It may be a name, but nothing has it here.',
  MALFORMED: 'It looks like something that it is not, such as Bech32 with a typo.',
  TOO_SHORT: 'It has fewer than eight hexadecimal digits.',
  OTHER_NETWORK: 'It is an address of another network.',
  BEFORE_GENESIS: 'It is a time or a milestone before the network began.',
  NOT_COMMITTED: 'It is a time or a milestone to come.',
  NOT_TOLD_BY_NODE: 'In upstream mode: it is not stored here, and the node cannot be asked now.',
})

const SearchHit = builder.objectRef<Hit>('SearchHit').implement({
  description: 'Something that the text may name.',
  fields: (t) => ({
    match: t.field({
      type: SearchMatch,
      description: 'Why it is found.',
      resolve: ({ by }) => by,
    }),
    thing: t.field({
      complexity: free,
      type: SearchThing,
      description: 'What is found.',
      resolve: ({ kind, thing }) =>
        typeof thing === 'string'
          ? { ...viewOfKey(thing), [kindOf]: kind }
          : { ...thing, [kindOf]: kind },
    }),
  }),
})

const SearchResultType = builder.objectRef<SearchResult>('SearchResult').implement({
  description: 'What a text may name, or why it names nothing.',
  fields: (t) => ({
    hits: t.field({
      complexity: free,
      type: [SearchHit],
      description: `The most exact first, at most ${maxHits}.`,
      resolve: ({ hits }) => [...hits],
    }),
    reason: t.field({
      type: SearchNothing,
      nullable: true,
      description: 'Why nothing is found; null where something is.',
      resolve: ({ nothing }) => nothing?.reason,
    }),
    message: t.string({
      nullable: true,
      description: 'The reason in words, for people; null where something is found.',
      resolve: ({ nothing }) => nothing?.sentence,
    }),
  }),
})

builder.queryField('search', (t) =>
  t.field({
    type: SearchResultType,
    description:
      'What a person means who pastes a text: an id or the beginning of one from eight hexadecimal digits on, with or without 0x, a Bech32 address, a public key, the index of a milestone, a Unix time (in seconds to nanoseconds) or an ISO 8601 date, or a tag.',
    complexity: itemsCost(maxHits),
    args: {
      text: t.arg.string({
        required: true,
        description: 'Up to 1000 characters; blanks around it do not count.',
      }),
    },
    resolve: (_root, { text }, { services }) => search(services, text),
  }),
)
