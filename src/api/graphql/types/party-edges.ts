import type { AccountId } from '../../../protocol/primitives.ts'
import { chainOfOutput } from '../../../service/chains/read-chain.ts'
import { defaultListSize } from '../../../service/lists/keyset-page.ts'
import { listAddressTransactions } from '../../../service/lists/list-address-transactions.ts'
import { listBlocks } from '../../../service/lists/list-blocks.ts'
import { listLedgerUpdates } from '../../../service/updates/list-ledger-updates.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { listCost, reads, transactionsCost } from '../execution/prices.ts'
import { listArgs } from '../lists.ts'
import { addressTransactionPart, blockPart, chainInBatch, listedTransaction } from '../loaders.ts'
import { AccountNode } from './account.ts'
import { AddressNode } from './address-node.ts'
import { BlockConnection } from './block-lists.ts'
import { Chain } from './chain.ts'
import { LedgerUpdateConnection, updateClassArg } from './ledger-updates.ts'
import { OutputNode } from './output.ts'
import { TransactionConnection } from './transaction-lists.ts'

/** Fields from addresses, accounts and outputs to their updates, transactions, blocks and chains. */

builder.objectField(AddressNode, 'updates', (t) =>
  t.field({
    type: LedgerUpdateConnection,
    nullable: true,
    complexity: listCost,
    description:
      'A list of the ledger updates of the address in a class, in the order of the log. Pruned updates are not included. Null with an error if a cursor or a page size is not accepted.',
    args: {
      ...listArgs,
      ...updateClassArg,
    },
    resolve: async ({ key: address }, { first, last, ...page }, { services }) => {
      const size = { first: first ?? (last == null ? defaultListSize : undefined), last }
      return orThrow(await listLedgerUpdates(services, { ...page, ...size, address }))
    },
  }),
)

builder.objectField(AddressNode, 'transactions', (t) =>
  t.field({
    type: TransactionConnection,
    nullable: true,
    complexity: transactionsCost,
    description:
      'A list of the transactions that made ledger updates of the address, ordered by their last update of it. Transactions whose updates have been pruned are not included. Only the id, the slot and the milestone are known of a transaction that an upstream node no longer has. Null with an error if the nodes do not respond, and in upstream mode without proofs.',
    args: { ...listArgs, ...updateClassArg },
    resolve: async ({ key: address }, { class: updateClass, ...args }, context) => {
      const list = { address, class: updateClass }
      const page = orThrow(
        await listAddressTransactions(addressTransactionPart(context), list, args),
      )
      const nodes = await Promise.all(page.nodes.map((one) => listedTransaction(context, one)))
      return { ...page, nodes }
    },
  }),
)

builder.objectField(AccountNode, 'blocks', (t) =>
  t.field({
    type: BlockConnection,
    nullable: true,
    complexity: listCost,
    description:
      'A list of the stored blocks that the account issued, ordered by issuing time and then by arrival. Null with an error in upstream mode.',
    args: listArgs,
    resolve: async ({ chainId }, page, context) => {
      const issuerId = chainId as AccountId
      return orThrow(await listBlocks(blockPart(context), { issuerId }, page))
    },
  }),
)

builder.objectField(OutputNode, 'chain', (t) =>
  t.field({
    type: Chain,
    nullable: true,
    complexity: reads(3),
    description:
      'The account, anchor, token, NFT or delegation of which the output is a state. Null for other outputs, and until the first state of the chain is committed.',
    resolve: async (view, _args, context) => {
      const name = chainOfOutput(view)
      const chain = name && (await chainInBatch(context, name.chainId))
      return chain?.kind === name?.kind ? chain : null
    },
  }),
)
