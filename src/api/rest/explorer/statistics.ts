import { err, ok } from '../../../lib/result.ts'
import type { ManaSum } from '../../../service/addresses/mana-of-address.ts'
import {
  type OwnedRange,
  readDistribution,
  readOwned,
  readOwnedWithMana,
  readRichest,
} from '../../../service/addresses/token-statistics.ts'
import { maximumPageSize } from '../../../service/updates/list-ledger-updates.ts'
import type { LedgerIndexNotKept, NotFound } from '../../api-errors.ts'
import { fieldCost } from '../../graphql/prices.ts'
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

/** Who owns how much (rest.md 3.1, 3.8). */

const ledgerIndex = about('The milestone at whose end this was so.', uint32)

const params = { address: anyAddress }

const newestIndex = number32('Only the newest milestone is kept; any other is not there.')

const top: Parameter<number> = {
  ...number32('', 100),
  shape: limited(
    { default: 100 },
    about(`How many; at most ${maximumPageSize}, to which more is cut.`, count),
  ).shape,
}

/** The base tokens of an address. */
export const balanceRoute = readRoute({
  path: '/api/explorer/v2/balance/{address}',
  about: 'The base tokens of an address.',
  params,
  reply: jsonReply(
    'All of them, and those that can be spent now.',
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
      'The stored mana as the outputs have it; absent for more outputs than are read for it.',
      uint64,
    ),
  ),
  decayedMana: optional(
    about(
      'What is left of it, and what the base tokens generated; absent with the above.',
      object({ stored: uint64, potential: uint64 }),
    ),
  ),
})

/** The base tokens and the mana of an address. */
export const balanceWithManaRoute = readRoute({
  path: '/api/explorer/v3/balance/{address}',
  cost: fieldCost.mana.field,
  about: 'The base tokens and the mana of an address.',
  params,
  reply: jsonReply(
    'All of it, and what can be spent now.',
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

/** The addresses that own most, in both versions. */
export const richestRoutes = ['v2', 'v3'].map((version) =>
  readRoute({
    path: `/api/explorer/${version}/ledger/richest-addresses`,
    about: 'The addresses that own most base tokens.',
    query: { top, ledger_index: newestIndex },
    reply: jsonReply(
      'They, the richest first.',
      object({
        top: listOf(object({ address: bech32, balance: uint64 }), maximumPageSize),
        ledgerIndex,
      }),
    ),
    errors: [404],
    answer: async ({ top: limit, ledger_index: asked }, services) => {
      const { slot, top } = await readRichest(services, Math.min(limit, maximumPageSize))
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
      start: about('Base tokens, included.', count),
      end: about('Base tokens, excluded.', count),
    }),
    addressCount: about('How many addresses own as much.', uint64),
    totalBalance: about('What they own together.', uint64),
  }),
)

/** How many addresses own how much, in both versions. */
export const distributionRoutes = ['v2', 'v3'].map((version) =>
  readRoute({
    path: `/api/explorer/${version}/ledger/token-distribution`,
    about: 'How many addresses own how much, by powers of ten.',
    query: { ledgerIndex: newestIndex },
    reply: jsonReply(
      'The ranges that have addresses, the poorest first.',
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
  return { code: 'NOT_FOUND', what: 'output of', id: address }
}
