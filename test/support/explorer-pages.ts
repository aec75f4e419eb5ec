import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { assert, present } from '../../src/lib/assert.ts'
import { hexToBytes } from '../../src/lib/hex.ts'
import { encodeBech32 } from '../../src/protocol/bech32.ts'
import { addressKey, transactionOf } from '../../src/protocol/ids.ts'
import type { Id } from '../../src/protocol/primitives.ts'
import type { ChainWorld } from './chain-world.ts'
import { graphql } from './client.ts'
import { documentOf } from './explorer-documents.ts'
import type { TestGateway } from './start-gateway.ts'
import { issuer } from './wallet.ts'

/** The documents of the explorer pages in `docs/examples/explorer`, and their variables. */

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The names of the pages. */
export const pages = readdirSync(`${root}docs/examples/explorer`).map((file) =>
  file.replace('.graphql', ''),
)

/** The document of a page. */
export function textOf(page: string): string {
  return documentOf(root, page)
}

/** The variables of each page, from a ledger with objects of every kind. */
export async function variablesIn({ world, slot, chains }: ChainWorld) {
  // Prefers a chain that is not destroyed.
  const chainOf = (type: number) => {
    const some = chains.filter((chain) => chain.type === type)
    const alive = some.find(({ states }) => states.at(-1)?.spentSlot === undefined)
    return present(alive ?? some[0], `a chain of type ${type}`)
  }
  // The first transaction funded the players and returned the rest to the faucet.
  const funding = transactionOf(present(world.outputs[0], 'an output').outputId)
  const output = present(
    world.outputs.find(
      ({ outputId, spentSlot }) => spentSlot !== undefined && transactionOf(outputId) !== funding,
    ),
    'a spent output of a player',
  )
  const transactionId = transactionOf(output.outputId)
  const { data } = await graphql(
    world.gateway.url,
    `query ($id: TransactionId!) { transaction(id: $id) {
      blockId block { bytes } outputs { owner { bech32 } } } }`,
    { id: transactionId },
  )
  const nft = chainOf(4)
  const anchor = chainOf(2)
  const anchorId = anchor.id as Id<'AnchorId'>
  const chain = encodeBech32('tst', hexToBytes(addressKey({ type: 24, anchorId })))
  return {
    home: {},
    milestones: {},
    blocks: {},
    transactions: {},
    milestone: { index: output.bookedSlot },
    block: { id: data.transaction.blockId },
    transaction: { id: transactionId },
    address: { address: data.transaction.outputs[0].owner.bech32 },
    output: { id: output.outputId },
    account: { id: issuer.accountId },
    nft: { id: nft.id },
    token: { id: chainOf(3).id },
    foundry: { id: chainOf(3).id },
    anchor: { id: anchor.id },
    delegation: { id: chainOf(5).id },
    validators: {},
    chain: { chainId: chain },
    chains: {},
    accounts: {},
    tokens: {},
    nfts: {},
    rich: {},
    search: { text: nft.id.slice(0, 14) },
    decode: { input: { bytes: data.transaction.block.bytes }, isGiven: true },
    verify: { input: { bytes: data.transaction.block.bytes }, isGiven: true },
    faucet: {},
    network: {},
    health: {},
    slot,
  } as const
}

/** Sets two versions of the record of the chain in the variables. */
export async function setRecords(
  { url, token }: TestGateway,
  { chain: { chainId } }: Pick<Awaited<ReturnType<typeof variablesIn>>, 'chain'>,
): Promise<void> {
  for (const accessNodes of [['https://a.example/api'], ['https://b.example/api']]) {
    const { errors } = await graphql(
      url,
      `mutation ($chainId: String!, $record: ChainRecordInput!) {
        setChainRecord(chainId: $chainId, record: $record) { version }
      }`,
      { chainId, record: { accessNodes, isActive: true } },
      { authorization: `Bearer ${await token('chain-record:write')}` },
    )
    assert(errors === undefined, JSON.stringify(errors))
  }
}
