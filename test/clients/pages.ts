import type { ResultOf, VariablesOf } from 'gql.tada'
import { type DocumentOptions, query } from '../../src/client/query.ts'
import * as documents from './generated/documents.ts'

/** A program with typed documents: it requests the pages and uses their data. */

/** The variables of each page. */
export type PageVariables = {
  readonly [P in keyof typeof documents]: VariablesOf<(typeof documents)[P]>
}

/** Requests all pages and returns the names of those with data. Throws if a response has errors. */
export async function requestPages(url: string, variables: PageVariables): Promise<string[]> {
  const request = async <Data, Variables>(options: DocumentOptions<Data, Variables>) => {
    const answer = await query({ url, ...options })
    if (!answer.ok || answer.failures.length > 0) throw new Error(JSON.stringify(answer))
    return answer.data
  }
  const home = await request({ document: documents.home, variables: variables.home })
  const { milestones } = await request({
    document: documents.milestones,
    variables: variables.milestones,
  })
  const { blocks } = await request({ document: documents.blocks, variables: variables.blocks })
  const { transactions } = await request({
    document: documents.transactions,
    variables: variables.transactions,
  })
  const { milestone } = await request({
    document: documents.milestone,
    variables: variables.milestone,
  })
  const { block } = await request({ document: documents.block, variables: variables.block })
  const { transaction } = await request({
    document: documents.transaction,
    variables: variables.transaction,
  })
  const { address } = await request({ document: documents.address, variables: variables.address })
  const { output } = await request({ document: documents.output, variables: variables.output })
  const { account } = await request({ document: documents.account, variables: variables.account })
  const { nft } = await request({ document: documents.nft, variables: variables.nft })
  const { token } = await request({ document: documents.token, variables: variables.token })
  const { token: foundry } = await request({
    document: documents.foundry,
    variables: variables.foundry,
  })
  const { anchor } = await request({ document: documents.anchor, variables: variables.anchor })
  const { delegation } = await request({
    document: documents.delegation,
    variables: variables.delegation,
  })
  const { chainRecord } = await request({ document: documents.chain, variables: variables.chain })
  const { chainRecords } = await request({
    document: documents.chains,
    variables: variables.chains,
  })
  const { accounts } = await request({
    document: documents.accounts,
    variables: variables.accounts,
  })
  const { nfts } = await request({ document: documents.nfts, variables: variables.nfts })
  const { tokens } = await request({ document: documents.tokens, variables: variables.tokens })
  const { addresses } = await request({ document: documents.rich, variables: variables.rich })
  const { validators } = await request({
    document: documents.validators,
    variables: variables.validators,
  })
  const { search } = await request({ document: documents.search, variables: variables.search })
  const { inspect } = await request({ document: documents.decode, variables: variables.decode })
  const { inspect: verified } = await request({
    document: documents.verify,
    variables: variables.verify,
  })
  const { network: withFaucet } = await request({
    document: documents.faucet,
    variables: variables.faucet,
  })
  const { network } = await request({ document: documents.network, variables: variables.network })
  const { limits } = await request({ document: documents.health, variables: variables.health })
  const valueByPage: {
    readonly [P in keyof typeof documents]: string | number | null | undefined
  } = {
    home: home.status.committed.slot + (home.activity?.length ?? 0),
    milestones: milestones?.nodes[0]?.index,
    blocks: blocks?.nodes[0]?.blockId,
    transactions: transactions?.nodes[0]?.state,
    milestone: milestone?.blocks?.nodes[0]?.transaction?.transactionId,
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
    verify: verified?.__typename,
    faucet: String(withFaucet.isDevelopment),
    network: network.parameters.networkName,
    health: limits[0]?.name,
  }
  return Object.entries(valueByPage).flatMap(([page, value]) => (value == null ? [] : [page]))
}

/** Type errors: without types these lines would compile. */
export function refused(
  page: ResultOf<typeof documents.milestone>,
  status: ResultOf<typeof documents.home>['status'],
): unknown[] {
  // @ts-expect-error a milestone may be null
  const index = page.milestone.index
  // @ts-expect-error the document does not select this field
  const bytes = page.milestone?.bytes
  // @ts-expect-error an amount is a string, because it may be as large as 2^64 - 1
  const supply: number = status.baseTokenSupply
  // @ts-expect-error the index of a milestone is a number
  const variables: PageVariables['milestone'] = { index: '7' }
  return [index, bytes, supply, variables]
}
