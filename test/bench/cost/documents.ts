import { getIntrospectionQuery } from 'graphql'
import { present } from '../../../src/lib/assert.ts'
import { textOf } from '../../support/explorer-pages.ts'
import type { Variables } from '../graph/questions.ts'

/** Fifty very different documents for a ledger with objects of every kind. */

/** A document with its variables. */
export interface CostDocument {
  readonly name: string
  readonly text: string
  readonly variables: Variables
}

const pages = 'home milestone block transaction address account nft token validators search'.split(
  ' ',
)

const times = (count: number, part: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ')

/** The documents. `things` are objects of the ledger by the name of their page; `bytes` is a block with a wrong signature. */
export function documentsFor(
  things: ReadonlyMap<string, readonly Variables[]>,
  bytes: string,
): readonly CostDocument[] {
  const first = (page: string): Variables => present(things.get(page)?.[0], page)
  const shown = pages.map((name) => ({
    name: `page: ${name}`,
    text: textOf(name),
    variables: first(name),
  }))
  const of = (page: string, documents: Readonly<Record<string, string>>) =>
    Object.entries(documents).map(([name, text]) => ({ name, text, variables: first(page) }))
  return [
    ...shown,
    ...of('home', small),
    ...of('home', lists),
    ...of('home', expensive),
    ...of('address', ofAddress),
    ...of('transaction', ofTransaction),
    ...of('block', ofBlock),
    ...Object.entries(inspected).map(([name, text]) => ({ name, text, variables: { bytes } })),
  ]
}

const small = {
  'a name': '{ __typename }',
  'a hundred names': `{ ${times(100, (n) => `a${n}: __typename`)} }`,
  network: '{ network { networkId } }',
  status: '{ status { mode lagSeconds newestMilestone { index } } }',
  limits: '{ limits { name value unit meaning error setting } }',
}

const outputIds = (size: number) => `{ unspentOutputs(first: ${size}) { nodes { outputId } } }`
const lists = {
  'ten ids of outputs': outputIds(10),
  'a hundred ids of outputs': outputIds(100),
  'a thousand ids of outputs': outputIds(1_000),
  'outputs with their bytes': '{ unspentOutputs(first: 1000) { nodes { outputId bytes } } }',
  'outputs with thirty names': `{ unspentOutputs(first: 1000) { nodes { ${times(30, (n) => `a${n}: outputId`)} } } }`,
  'outputs with a hundred flags': `{ unspentOutputs(first: 1000) { nodes { ${times(100, (n) => `a${n}: isSpent`)} } } }`,
  'contents of outputs':
    '{ unspentOutputs(first: 500) { nodes { content { ... on BasicOutput { amount mana } ... on NFTOutput { nftId } } } } }',
  'owners of outputs': '{ unspentOutputs(first: 500) { nodes { owner { bech32 } } } }',
  'outputs and their transactions':
    '{ unspentOutputs(first: 200) { nodes { transaction { state blockId } } } }',
  'outputs and their milestones':
    '{ unspentOutputs(first: 500) { nodes { milestone { index endedAt } } } }',
  milestones: '{ milestones(first: 100) { nodes { index commitmentId endedAt } } }',
  'milestones with counts':
    '{ milestones(first: 50) { nodes { index blockCount transactionCount } } }',
  blocks: '{ blocks(first: 500) { nodes { blockId state issuedAt } } }',
  'blocks with their bytes': '{ blocks(first: 200) { nodes { bytes } } }',
  'contents of blocks': '{ blocks(first: 200) { nodes { content { header { issuingTime } } } } }',
  transactions: '{ transactions(first: 500) { nodes { transactionId state slot } } }',
  'transactions with outputs':
    '{ transactions(first: 20) { nodes { outputs { outputId } inputs { outputId } } } }',
  nfts: '{ nfts(first: 100) { nodes { nftId owner { bech32 } } } }',
  tokens:
    '{ tokens(first: 50) { nodes { tokenId holders(first: 10) { nodes { address { bech32 } } } } } }',
  addresses: '{ addresses(first: 500) { nodes { bech32 balance { total } } } }',
  'edges and cursors':
    '{ outputs(first: 500) { edges { cursor node { outputId } } pageInfo { endCursor } } }',
}

const expensive = {
  'proofs of outputs': '{ unspentOutputs(first: 100) { nodes { proof { slot } } } }',
  'the introspection of tools': getIntrospectionQuery(),
  'names of types': '{ __schema { types { name } } }',
  distribution: '{ balanceDistribution { __typename } }',
}

const address = (fields: string) =>
  `query ($address: String!) { address(address: $address) { ${fields} } }`
const ofAddress = {
  balance: address('balance { total }'),
  mana: address('mana { total { stored } }'),
  'mana, five times': address(times(5, (n) => `a${n}: mana { total { stored } }`)),
  'updates of an address': address(
    'updates(first: 500) { nodes { seq class roles outputId isSpent } }',
  ),
  'transactions of an address': address('transactions(first: 50) { nodes { transactionId } }'),
}

const ofTransaction = {
  changes:
    'query ($id: TransactionId!) { transaction(id: $id) { changes { address { bech32 } } } }',
  'updates of a transaction':
    'query ($id: TransactionId!) { transaction(id: $id) { updates { nodes { seq } } } }',
}

const ofBlock = {
  'parents of a block':
    'query ($id: BlockId!) { block(id: $id) { parents { block { blockId } } } }',
}

const inspections = (count: number) =>
  `query ($bytes: Hex!) { ${times(count, (n) => `a${n}: inspectBlock(input: { bytes: $bytes }) { __typename }`)} }`
const inspected = {
  'a block with wrong signatures': inspections(1),
  'twenty such blocks': inspections(20),
}
