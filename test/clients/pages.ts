import type { ResultOf, TadaDocumentNode, VariablesOf } from 'gql.tada'
import { print } from 'graphql'
import * as documents from './generated/documents.ts'

/** A program of a user who types his documents: it asks for the pages and uses what they say. */

/** The variables of each page. */
export type PageVariables = {
  readonly [P in keyof typeof documents]: VariablesOf<(typeof documents)[P]>
}

/** Asks for all pages; gives the names of those that were there. Fails where an answer has errors. */
export async function askForPages(url: string, variables: PageVariables): Promise<string[]> {
  const ask = <R, V>(document: TadaDocumentNode<R, V>, of: V) => post(url, document, of)
  const home = await ask(documents.home, variables.home)
  const { milestones } = await ask(documents.milestones, variables.milestones)
  const { blocks } = await ask(documents.blocks, variables.blocks)
  const { transactions } = await ask(documents.transactions, variables.transactions)
  const { milestone } = await ask(documents.milestone, variables.milestone)
  const { block } = await ask(documents.block, variables.block)
  const { transaction } = await ask(documents.transaction, variables.transaction)
  const { address } = await ask(documents.address, variables.address)
  const { output } = await ask(documents.output, variables.output)
  const { account } = await ask(documents.account, variables.account)
  const { nft } = await ask(documents.nft, variables.nft)
  const { token } = await ask(documents.token, variables.token)
  const { token: foundry } = await ask(documents.foundry, variables.foundry)
  const { anchor } = await ask(documents.anchor, variables.anchor)
  const { delegation } = await ask(documents.delegation, variables.delegation)
  const { chainRecord } = await ask(documents.chain, variables.chain)
  const { chainRecords } = await ask(documents.chains, variables.chains)
  const { accounts } = await ask(documents.accounts, variables.accounts)
  const { nfts } = await ask(documents.nfts, variables.nfts)
  const { tokens } = await ask(documents.tokens, variables.tokens)
  const { validators } = await ask(documents.validators, variables.validators)
  const { search } = await ask(documents.search, variables.search)
  const seen: { readonly [P in keyof typeof documents]: string | number | null | undefined } = {
    home: home.status.committed.slot + (home.activity?.length ?? 0),
    milestones: milestones?.nodes[0]?.index,
    blocks: blocks?.nodes[0]?.blockId,
    transactions: transactions?.nodes[0]?.state,
    milestone: milestone?.blocks?.nodes[0]?.transaction?.state,
    block: block?.content.header.networkId,
    transaction: transaction?.outputs[0]?.owner.bech32,
    address: address?.balance.total,
    output: output?.owner.bech32,
    account: account?.entry?.credits,
    nft: nft?.history.nodes[0]?.milestone?.endedAt,
    token: token?.circulatingSupply,
    foundry: foundry?.tokenId,
    anchor: anchor?.stateIndex,
    delegation: delegation?.startEpoch,
    chain: chainRecord?.version,
    chains: chainRecords?.nodes[0]?.version,
    accounts: accounts?.nodes[0]?.id,
    nfts: nfts?.nodes[0]?.id,
    tokens: tokens?.nodes[0]?.id,
    validators: validators?.nodes[0]?.poolStake,
    search: search.hits[0]?.thing.__typename,
  }
  return Object.entries(seen).flatMap(([page, value]) => (value == null ? [] : [page]))
}

async function post<R, V>(url: string, document: TadaDocumentNode<R, V>, variables: V): Promise<R> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: print(document), variables }),
  })
  const { data, errors } = (await response.json()) as { data: R; errors?: unknown }
  if (errors !== undefined) throw new Error(JSON.stringify(errors))
  return data
}

/** What the types refuse: without them these lines would compile. */
export function refused(
  page: ResultOf<typeof documents.milestone>,
  status: ResultOf<typeof documents.home>['status'],
): unknown[] {
  // @ts-expect-error a milestone may not be there
  const index = page.milestone.index
  // @ts-expect-error the document does not ask for it
  const bytes = page.milestone?.bytes
  // @ts-expect-error an amount is text, for it goes up to 2^64 - 1
  const supply: number = status.baseTokenSupply
  // @ts-expect-error the number of a milestone is no text
  const variables: PageVariables['milestone'] = { index: '7' }
  return [index, bytes, supply, variables]
}
