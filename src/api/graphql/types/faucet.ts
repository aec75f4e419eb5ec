import type { TransactionId } from '../../../protocol/primitives.ts'
import { faucetAmount, faucetSmallAmount, faucetTarget } from '../../../service/faucet/faucet.ts'
import { settledWithin } from '../../../service/faucet/settled-within.ts'
import { orThrow, toGraphQL } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { exposed, exposedOrNull } from '../declare.ts'
import { computes, faucetCost, free } from '../execution/prices.ts'
import { NetworkType } from './network.ts'

/** The faucet of a development network. */

const amounts = { amount: faucetAmount, smallAmount: faucetSmallAmount, limit: faucetTarget }

const FaucetType = builder.objectRef<typeof amounts>('Faucet').implement({
  description:
    'The faucet of a development network. Clients use it by the mutation requestFromFaucet or by POST /api/enqueue. Amounts are in the smallest unit.',
  fields: (t) => ({
    ...exposed(t, 'UInt64', {
      amount: 'The number of base tokens for an address whose balance is below this amount.',
      smallAmount: 'The number of base tokens for an address with a larger balance.',
      limit:
        'The balance in base tokens from which on an address receives nothing, unless the request states an amount.',
    }),
  }),
})

builder.objectFields(NetworkType, (t) => ({
  isDevelopment: t.boolean({
    description:
      'Whether the network is a development network. Its keys are public and its tokens have no value.',
    resolve: (_network, _args, { services }) => services.isDevelopment,
  }),
  faucet: t.field({
    complexity: free,
    type: FaucetType,
    nullable: true,
    description:
      'The faucet of the network. Null unless the gateway maintains the ledger of a development network.',
    resolve: (_network, _args, { services }) => (services.faucet === undefined ? null : amounts),
  }),
}))

interface Request {
  readonly address: string
  readonly waitingRequests: number
  readonly transactionId: TransactionId | null
}

const FaucetRequestType = builder.objectRef<Request>('FaucetRequest').implement({
  description: 'A request that the faucet has accepted.',
  fields: (t) => ({
    ...exposed(t, 'String', {
      address: 'The address of the receiver as Bech32 text, as given in the request.',
    }),
    ...exposedOrNull(t, 'TransactionId', {
      transactionId:
        'The id of the booked transaction that pays the request. Null if the request is still waiting.',
    }),
    ...exposed(t, 'Int', {
      waitingRequests:
        'The number of waiting requests when this request was accepted, including this request, from 1 to 1000.',
    }),
  }),
})

/** Maximum seconds that a request waits for the payment. It is shorter than the timeout of an operation. */
const maxWaitSeconds = 5

builder.mutationField('requestFromFaucet', (t) =>
  t.field({
    type: FaucetRequestType,
    nullable: true,
    description:
      'Requests base tokens from the faucet of a development network, as POST /api/enqueue does, and waits up to five seconds for the payment. Null with an error if the faucet refuses.',
    complexity: computes(faucetCost),
    args: {
      address: t.arg.string({
        required: true,
        description: 'The address of the receiver as Bech32 text of this network.',
      }),
      amount: t.arg({
        type: 'UInt64',
        description:
          'The number of base tokens, in the smallest unit. By default, the amount depends on the balance of the address.',
      }),
    },
    resolve: async (_root, { address, amount }, { services: { faucet }, budget: { signal } }) => {
      if (faucet === undefined) throw toGraphQL({ code: 'FAUCET_MISSING' })
      const accepted = orThrow(await faucet.enqueue({ address, amount: amount ?? undefined }))
      const outcome = await settledWithin(accepted, { seconds: maxWaitSeconds, signal })
      const transactionId = outcome === undefined ? null : orThrow(outcome)
      return { address, waitingRequests: accepted.waitingRequests, transactionId }
    },
  }),
)
