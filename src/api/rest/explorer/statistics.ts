import { err, ok } from '../../../lib/result.ts'
import type { ManaSum } from '../../../service/addresses/mana-of-address.ts'
import {
  type OwnedRange,
  readDistribution,
  readOwned,
  readOwnedWithMana,
  readRichest,
} from '../../../service/addresses/token-statistics.ts'
import { maxPageSize } from '../../../service/updates/list-ledger-updates.ts'
import type { LedgerIndexNotKept, NotFound } from '../../errors/api-errors.ts'
import { fieldCost } from '../../graphql/execution/prices.ts'
import {
  about,
  bech32,
  count,
  limited,
  listOf,
  object,
  optional,
  printedBy,
  uint32,
  uint64,
} from '../form.ts'
import { anyAddress, number32, type Parameter } from '../parameters.ts'
import { jsonReply } from '../reply.ts'
import { readRoute } from '../route.ts'

/** Routes for balances and their distribution (rest.md 3.1, 3.8). */

const ledgerIndex = about('The milestone as of whose end the values are.', uint32)

const params = { address: anyAddress }

const newestIndex = number32('Milestone of the values. Only the newest milestone is available.')

const top: Parameter<number> = {
  ...number32('', 100),
  shape: limited(
    { default: 100 },
    about(`Number of addresses. A larger number is reduced to ${maxPageSize}.`, count),
  ).shape,
}

export const balanceRoute = readRoute({
  path: '/api/explorer/v2/balance/{address}',
  about: 'Returns the base token balance of an address.',
  params,
  reply: jsonReply(
    'The total balance, and the balance that can be spent now.',
    object({ totalBalance: uint64, availableBalance: uint64, ledgerIndex }),
  ),
  errors: [404],
  answer: async ({ address: { key, text } }, services) => {
    const owned = await readOwned(services, key)
    if (owned === undefined) return err(nothingOwned(text))
    const { total: totalBalance, available: availableBalance, slot } = owned
    return ok({ totalBalance, availableBalance, ledgerIndex: slot })
  },
})

const balanceWithMana = object({
  amount: about('Base tokens.', uint64),
  storedMana: optional(
    about(
      'Stored mana as written in the outputs; absent if the address has more outputs than the gateway reads for it.',
      uint64,
    ),
  ),
  decayedMana: optional(
    about(
      'Stored mana after decay, and potential mana that the base tokens generated; absent if `storedMana` is.',
      object({ stored: uint64, potential: uint64 }),
    ),
  ),
})

/** The base tokens and the mana of an address. */
export const balanceWithManaRoute = readRoute({
  path: '/api/explorer/v3/balance/{address}',
  cost: fieldCost.mana.field,
  about: 'Returns the base token and mana balances of an address.',
  params,
  reply: jsonReply(
    'The total balance, and the balance that can be spent now.',
    object({ totalBalance: balanceWithMana, availableBalance: balanceWithMana, ledgerIndex }),
  ),
  errors: [404, 503],
  answer: async ({ address: { key, text } }, services) => {
    const read = await readOwnedWithMana(services, key)
    if (read === undefined) return err(nothingOwned(text))
    const { owned, mana } = read
    if ('reason' in mana && mana.reason === 'LEDGER_MOVED') return err({ code: 'LEDGER_MOVED' })
    const sums = 'reason' in mana ? undefined : mana
    return ok({
      totalBalance: balanceOf(owned.total, sums?.total),
      availableBalance: balanceOf(owned.available, sums?.available),
      ledgerIndex: owned.slot,
    })
  },
})

function balanceOf(amount: bigint, mana: ManaSum | undefined) {
  return { amount, storedMana: mana?.written, decayedMana: mana }
}

/** The richest addresses, in both versions. */
export const richestRoutes = ['v2', 'v3'].map((version) =>
  readRoute({
    path: `/api/explorer/${version}/ledger/richest-addresses`,
    about: 'Returns the addresses that own the most base tokens.',
    query: { top, ledger_index: newestIndex },
    reply: jsonReply(
      'The addresses, richest first.',
      object({
        top: listOf(object({ address: bech32, balance: uint64 }), maxPageSize),
        ledgerIndex,
      }),
    ),
    errors: [404],
    answer: async ({ top: limit, ledger_index: asked }, services) => {
      const { slot, top } = await readRichest(services, Math.min(limit, maxPageSize))
      return isOther(asked, slot) ? err(notKept(asked, slot)) : ok({ top, ledgerIndex: slot })
    },
  }),
)

const range = printedBy(
  ({ start, end, addressCount, totalBalance }: OwnedRange) => ({
    range: { start, end },
    addressCount: BigInt(addressCount),
    totalBalance,
  }),
  object({
    range: object({
      start: about('Lower bound in base tokens, inclusive.', count),
      end: about('Upper bound in base tokens, exclusive.', count),
    }),
    addressCount: about('Number of addresses with a balance in the range.', uint64),
    totalBalance: about('Total balance of these addresses.', uint64),
  }),
)

/** The distribution of base tokens, in both versions. */
export const distributionRoutes = ['v2', 'v3'].map((version) =>
  readRoute({
    path: `/api/explorer/${version}/ledger/token-distribution`,
    about: 'Returns the number of addresses by balance, in ranges between powers of ten.',
    query: { ledgerIndex: newestIndex },
    reply: jsonReply(
      'The ranges that have addresses, poorest first.',
      object({ distribution: listOf(range), ledgerIndex }),
    ),
    errors: [404],
    answer: async ({ ledgerIndex: asked }, services) => {
      const { slot, ranges: distribution } = await readDistribution(services)
      return isOther(asked, slot)
        ? err(notKept(asked, slot))
        : ok({ distribution, ledgerIndex: slot })
    },
  }),
)

function isOther(asked: number | undefined, newest: number): asked is number {
  return asked !== undefined && asked !== newest
}

function notKept(asked: number, newest: number): LedgerIndexNotKept {
  return { code: 'LEDGER_INDEX_NOT_KEPT', asked, newest }
}

function nothingOwned(address: string): NotFound {
  return { code: 'NOT_FOUND', what: 'output of the address', id: address }
}
