import type { ResultOf, VariablesOf } from 'gql.tada'
import { type DocumentOptions, query } from '../../src/client/query.ts'
import * as documents from './generated/documents.ts'

/** A program of a user who types his documents: it asks for the pages and uses what they say. */

/** The variables of each page. */
export type PageVariables = {
  readonly [P in keyof typeof documents]: VariablesOf<(typeof documents)[P]>
}

/** Asks for all pages; gives the names of those that were there. Fails where an answer has errors. */
export async function askForPages(url: string, variables: PageVariables): Promise<string[]> {
  const ask = async <Data, Variables>(options: DocumentOptions<Data, Variables>) => {
    const answer = await query({ url, ...options })
    if (!answer.ok || answer.failures.length > 0) throw new Error(JSON.stringify(answer))
    return answer.data
  }
  const home = await ask({ document: documents.home, variables: variables.home })
  const { milestones } = await ask({
    document: documents.milestones,
    variables: variables.milestones,
  })
  const { blocks } = await ask({ document: documents.blocks, variables: variables.blocks })
  const { transactions } = await ask({
    document: documents.transactions,
    variables: variables.transactions,
  })
  const { milestone } = await ask({ document: documents.milestone, variables: variables.milestone })
  const { block } = await ask({ document: documents.block, variables: variables.block })
  const { transaction } = await ask({
    document: documents.transaction,
    variables: variables.transaction,
  })
  const { address } = await ask({ document: documents.address, variables: variables.address })
  const { output } = await ask({ document: documents.output, variables: variables.output })
  const { account } = await ask({ document: documents.account, variables: variables.account })
  const { nft } = await ask({ document: documents.nft, variables: variables.nft })
  const { token } = await ask({ document: documents.token, variables: variables.token })
  const { token: foundry } = await ask({
    document: documents.foundry,
    variables: variables.foundry,
  })
  const { anchor } = await ask({ document: documents.anchor, variables: variables.anchor })
  const { delegation } = await ask({
    document: documents.delegation,
    variables: variables.delegation,
  })
  const { chainRecord } = await ask({ document: documents.chain, variables: variables.chain })
  const { chainRecords } = await ask({ document: documents.chains, variables: variables.chains })
  const { accounts } = await ask({ document: documents.accounts, variables: variables.accounts })
  const { nfts } = await ask({ document: documents.nfts, variables: variables.nfts })
  const { tokens } = await ask({ document: documents.tokens, variables: variables.tokens })
  const { addresses } = await ask({ document: documents.rich, variables: variables.rich })
  const { validators } = await ask({
    document: documents.validators,
    variables: variables.validators,
  })
  const { search } = await ask({ document: documents.search, variables: variables.search })
  const { inspect } = await ask({ document: documents.decode, variables: variables.decode })
  const { inspect: judged } = await ask({ document: documents.verify, variables: variables.verify })
  const { network: withFaucet } = await ask({
    document: documents.faucet,
    variables: variables.faucet,
  })
  const { network } = await ask({ document: documents.network, variables: variables.network })
  const { limits } = await ask({ document: documents.health, variables: variables.health })
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
    rich: addresses?.nodes[0]?.balance.total,
    validators: validators?.nodes[0]?.poolStake,
    search: search.hits[0]?.thing.__typename,
    decode: inspect?.__typename,
    verify: judged?.__typename,
    faucet: String(withFaucet.isDevelopment),
    network: network.parameters.networkName,
    health: limits[0]?.name,
  }
  return Object.entries(seen).flatMap(([page, value]) => (value == null ? [] : [page]))
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
