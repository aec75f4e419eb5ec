import type { Hex } from '../../../lib/hex.ts'
import { err, ok, type Result } from '../../../lib/result.ts'
import { type AddressMalformed, addressKey } from '../../../service/addresses/address-key.ts'
import {
  type OwnedTokens,
  readDistribution,
  readOwned,
  readOwnedWithMana,
  readRichest,
} from '../../../service/addresses/token-statistics.ts'
import type { NotFound } from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import {
  about,
  bech32,
  count,
  listOf,
  object,
  optional,
  type Shape,
  uint32,
  uint64,
} from '../openapi/shape.ts'
import { readNumber } from '../query.ts'
import { json, param, type RestRequest, type RestResponse, type Route } from '../route.ts'

/** Who owns how much (rest.md 3.1, 3.8). */

const ledgerIndex = about('The milestone as of whose end this is told.', uint32)

const params = { address: about('Bech32 text, behind any human-readable part.', bech32) }

/** The base tokens of an address. */
export const balanceRoute: Route = {
  method: 'GET',
  path: '/api/explorer/v2/balance/{address}',
  about: 'The base tokens of an address.',
  params,
  answers: {
    200: {
      about: 'All of them, and those that can be spent now.',
      json: object({ totalBalance: uint64, availableBalance: uint64, ledgerIndex }),
    },
  },
  errors: [404],
  answer: async (request, services) => {
    const address = readAddress(request)
    if (!address.ok) return toRest(address.error)
    const owned = await readOwned(services, address.value)
    if (owned === undefined) return toRest(nothingOwned(request))
    return json(200, {
      totalBalance: owned.total.toString(),
      availableBalance: owned.available.toString(),
      ledgerIndex: owned.slot,
    })
  },
}

const balanceWithMana = object({
  amount: about('Base tokens.', uint64),
  storedMana: optional(
    about('As it stands in the outputs; absent for more outputs than are read for it.', uint64),
  ),
  decayedMana: optional(
    about(
      'What is left of it, and what the base tokens generated; absent with the above.',
      object({ stored: uint64, potential: uint64 }),
    ),
  ),
})

/** The base tokens and the mana of an address. */
export const balanceWithManaRoute: Route = {
  method: 'GET',
  path: '/api/explorer/v3/balance/{address}',
  about: 'The base tokens and the mana of an address.',
  params,
  answers: {
    200: {
      about: 'All of it, and what can be spent now.',
      json: object({
        totalBalance: balanceWithMana,
        availableBalance: balanceWithMana,
        ledgerIndex,
      }),
    },
  },
  errors: [404, 503],
  answer: async (request, services) => {
    const address = readAddress(request)
    if (!address.ok) return toRest(address.error)
    const read = await readOwnedWithMana(services, address.value)
    if (read === undefined) return toRest(nothingOwned(request))
    const { owned, mana } = read
    if ('reason' in mana && mana.reason === 'LEDGER_MOVED') return toRest({ code: 'LEDGER_MOVED' })
    const sums = 'reason' in mana ? undefined : mana
    return json(200, {
      totalBalance: balanceJson(owned.total, sums?.total),
      availableBalance: balanceJson(owned.available, sums?.available),
      ledgerIndex: owned.slot,
    })
  },
}

interface ManaSum {
  readonly written: bigint
  readonly stored: bigint
  readonly potential: bigint
}

function balanceJson(amount: OwnedTokens['total'], mana: ManaSum | undefined) {
  const tokens = { amount: amount.toString() }
  if (mana === undefined) return tokens
  const { written, stored, potential } = mana
  return {
    ...tokens,
    storedMana: written.toString(),
    decayedMana: { stored: stored.toString(), potential: potential.toString() },
  }
}

/** How many of the richest are told. */
const defaultTop = 100
const mostTop = 1_000

/** The addresses that own most, in both versions. */
export const richestRoutes: readonly Route[] = ['v2', 'v3'].map((version) => ({
  method: 'GET',
  path: `/api/explorer/${version}/ledger/richest-addresses`,
  about: 'The addresses that own most base tokens.',
  query: {
    top: about('How many; at most 1000, to which more is cut.', { ...count, default: defaultTop }),
    ledger_index: about('Only the newest milestone is kept; any other is not there.', uint32),
  },
  answers: {
    200: {
      about: 'They, the richest first.',
      json: object({
        top: listOf(object({ address: bech32, balance: uint64 }), mostTop),
        ledgerIndex,
      }),
    },
  },
  errors: [404],
  answer: async ({ query }, services) => {
    const top = readNumber(query, 'top')
    if (!top.ok) return toRest(top.error)
    const asked = readNumber(query, 'ledger_index')
    if (!asked.ok) return toRest(asked.error)
    const richest = await readRichest(services, Math.min(top.value ?? defaultTop, mostTop))
    return atNewest(asked.value, richest.slot, () => ({
      top: richest.top.map(({ address, balance }) => ({ address, balance: balance.toString() })),
      ledgerIndex: richest.slot,
    }))
  },
}))

const rangeShape: Shape = object({
  start: about('Base tokens, included.', count),
  end: about('Base tokens, excluded.', count),
})

/** How many addresses own how much, in both versions. */
export const distributionRoutes: readonly Route[] = ['v2', 'v3'].map((version) => ({
  method: 'GET',
  path: `/api/explorer/${version}/ledger/token-distribution`,
  about: 'How many addresses own how much, by powers of ten.',
  query: {
    ledgerIndex: about('Only the newest milestone is kept; any other is not there.', uint32),
  },
  answers: {
    200: {
      about: 'The ranges that have addresses, the poorest first.',
      json: object({
        distribution: listOf(
          object({
            range: rangeShape,
            addressCount: about('How many addresses own as much.', uint64),
            totalBalance: about('What they own together.', uint64),
          }),
        ),
        ledgerIndex,
      }),
    },
  },
  errors: [404],
  answer: async ({ query }, services) => {
    const asked = readNumber(query, 'ledgerIndex')
    if (!asked.ok) return toRest(asked.error)
    const { slot, ranges } = await readDistribution(services)
    return atNewest(asked.value, slot, () => ({
      distribution: ranges.map(({ start, end, addressCount, totalBalance }) => ({
        range: { start, end },
        addressCount: String(addressCount),
        totalBalance: totalBalance.toString(),
      })),
      ledgerIndex: slot,
    }))
  },
}))

function atNewest(asked: number | undefined, newest: number, body: () => object): RestResponse {
  if (asked === undefined || asked === newest) return json(200, body())
  return toRest({ code: 'LEDGER_INDEX_NOT_KEPT', asked, newest })
}

function readAddress(request: RestRequest): Result<Hex, AddressMalformed> {
  const address = addressKey(param(request, 'address'), 'address')
  return address.ok ? ok(address.value.key) : err(address.error)
}

function nothingOwned(request: RestRequest): NotFound {
  return { code: 'NOT_FOUND', what: 'output of', id: param(request, 'address') }
}
