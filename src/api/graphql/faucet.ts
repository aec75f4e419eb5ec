import type { TransactionId } from '../../protocol/primitives.ts'
import { faucetAmount, faucetSmallAmount, faucetTarget } from '../../service/faucet/faucet.ts'
import { settledWithin } from '../../service/faucet/settled-within.ts'
import { orThrow, toGraphQL } from '../errors.ts'
import { builder } from './builder.ts'
import { NetworkType } from './network.ts'
import { computes, faucetCost, free } from './prices.ts'

/** What is there on a development network alone. */

const amounts = { amount: faucetAmount, smallAmount: faucetSmallAmount, limit: faucetTarget }

const FaucetType = builder.objectRef<typeof amounts>('Faucet').implement({
  description:
    'The faucet of a development network, which is asked by `requestFromFaucet` or POST /api/enqueue. Amounts are in the smallest unit.',
  fields: (t) => ({
    amount: t.expose('amount', {
      type: 'UInt64',
      description: 'What it gives to an address that has less than that.',
    }),
    smallAmount: t.expose('smallAmount', {
      type: 'UInt64',
      description: 'What it gives to one that has more.',
    }),
    limit: t.expose('limit', {
      type: 'UInt64',
      description: 'An address that has so much gets no more, unless the request names an amount.',
    }),
  }),
})

builder.objectFields(NetworkType, (t) => ({
  isDevelopment: t.boolean({
    description:
      'Whether it is the network of development, whose keys are public and whose tokens are worth nothing.',
    resolve: (_network, _args, { services }) => services.isDevelopment,
  }),
  faucet: t.field({
    complexity: free,
    type: FaucetType,
    nullable: true,
    description:
      'Its faucet, where this gateway keeps the ledger of a development network; null elsewhere.',
    resolve: (_network, _args, { services }) => (services.faucet === undefined ? null : amounts),
  }),
}))

interface Request {
  readonly address: string
  readonly waitingRequests: number
  readonly transactionId: TransactionId | null
}

const FaucetRequestType = builder.objectRef<Request>('FaucetRequest').implement({
  description: 'A request that the faucet took.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'Bech32 text, as it was requested.' }),
    transactionId: t.expose('transactionId', {
      type: 'TransactionId',
      nullable: true,
      description: 'The transaction that pays it, booked; null where the request still waits.',
    }),
    waitingRequests: t.exposeInt('waitingRequests', {
      description: 'How many requests waited when it was taken, this one included: 1 to 1000.',
    }),
  }),
})

/** How long an answer waits for the payment, in seconds: less than the time that an operation has. */
const longestWait = 5

builder.mutationField('requestFromFaucet', (t) =>
  t.field({
    type: FaucetRequestType,
    description:
      'Asks the faucet of the development network for base tokens, as POST /api/enqueue does, and waits up to five seconds for the payment.',
    complexity: computes(faucetCost),
    args: {
      address: t.arg.string({
        required: true,
        description: 'Bech32 text of the receiver, of this network.',
      }),
      amount: t.arg({
        type: 'UInt64',
        description:
          'Base tokens, in the smallest unit; left out: what the faucet gives, by what the address has.',
      }),
    },
    resolve: async (_root, { address, amount }, { services: { faucet }, budget: { signal } }) => {
      if (faucet === undefined) throw toGraphQL({ code: 'FAUCET_MISSING' })
      const accepted = orThrow(await faucet.enqueue({ address, amount: amount ?? undefined }))
      const outcome = await settledWithin(accepted, { seconds: longestWait, signal })
      const transactionId = outcome === undefined ? null : orThrow(outcome)
      return { address, waitingRequests: accepted.waitingRequests, transactionId }
    },
  }),
)
