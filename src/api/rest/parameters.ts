import type { IncomingHttpHeaders } from 'node:http'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { AccountAddress } from '../../protocol/addresses.ts'
import { addressKeyPrefix } from '../../protocol/ids.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import { parse, type Schema } from '../../protocol/schema/schema.ts'
import {
  type AddressError,
  addressKeyOf,
  addressKeyOfEither,
} from '../../service/addresses/address-key.ts'
import type { ChainIdError } from '../../service/chain-records/chain-id.ts'
import { defaultPageSize, maxPageSize } from '../../service/updates/list-ledger-updates.ts'
import {
  type PageCursorMalformed,
  parsePageSize,
  parseSlot,
  type UpdateSort,
} from '../../service/updates/update-position.ts'
import type {
  AddressNotAnAccount,
  AddressOfAnotherKind,
  IfMatchMalformed,
  PathIdMalformed,
  PathSlotMalformed,
  QueryParameterMalformed,
} from '../errors/api-errors.ts'
import { about, bech32, count, limited, type Shape, uint32, word } from './form.ts'
import { shapeOf } from './openapi/from-schema.ts'
import type { RestRequest } from './request.ts'

/** Parameters of routes: one declaration describes, parses and validates each parameter (rest.md 3.1, 4, 5). */

/** Reasons to refuse a parameter. */
export type ParameterError =
  | QueryParameterMalformed
  | PathIdMalformed
  | PathSlotMalformed
  | AddressError
  | AddressNotAnAccount
  | AddressOfAnotherKind
  | PageCursorMalformed
  | IfMatchMalformed
  | ChainIdError

export interface ParameterContext {
  readonly name: string
  /** The name as it appears in errors about values: `query: address`. */
  readonly argument: string
  /** The human-readable part of this network. */
  readonly bech32Hrp: string
}

/** A parameter of a path, a query or a header. */
export interface Parameter<T> {
  readonly shape: Shape
  /** Parses the text, which is `undefined` if the query string or the headers do not have the parameter. */
  read(text: string | undefined, context: ParameterContext): Result<T, ParameterError>
}

export interface Parameters {
  readonly [name: string]: Parameter<unknown>
}

export type ParameterValues<P extends Parameters> = {
  readonly [N in keyof P]: P[N] extends Parameter<infer T> ? T : never
}

interface Declared {
  readonly query?: Parameters
  readonly params?: Parameters
  readonly headers?: Parameters
}

/** Parses all parameters of a request: query, then path, then headers, each in the order of declaration. */
export function readParameters(
  { query = {}, params = {}, headers = {} }: Declared,
  request: Pick<RestRequest, 'query' | 'params' | 'headers'>,
  network: { readonly bech32Hrp: string },
): Result<Readonly<Record<string, unknown>>, ParameterError> {
  const given: Record<string, unknown> = {}
  const sources = [
    [query, (name: string) => request.query.get(name), 'query: '],
    [params, (name: string) => request.params.get(name), ''],
    [headers, (name: string) => headerOf(request.headers, name), ''],
  ] as const
  for (const [declared, textOf, place] of sources) {
    for (const [name, parameter] of Object.entries(declared)) {
      const context = { name, argument: `${place}${name}`, bech32Hrp: network.bech32Hrp }
      const value = parameter.read(textOf(name), context)
      if (!value.ok) return value
      given[name] = value.value
    }
  }
  return ok(given)
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  return headers[name.toLowerCase()]?.toString()
}

/** Returns the error of an invalid query parameter. */
export function malformed(name: string, expected: string): Result<never, QueryParameterMalformed> {
  return err({ code: 'QUERY_PARAMETER_MALFORMED', name, expected })
}

/** Creates a path parameter with an identifier. */
export function pathId<T>(schema: Schema<T> & { readonly max: number }): Parameter<T> {
  return {
    shape: shapeOf(schema),
    read: (text, { name }) => {
      const id = parse(schema, text)
      return id.ok ? ok(id.value) : err({ code: 'PATH_ID_MALFORMED', name, bytes: schema.max })
    },
  }
}

export const pathSlot: Parameter<SlotIndex> = {
  shape: uint32.shape,
  read: (text = '', { name }) => {
    const slot = parseSlot(text)
    return slot === undefined ? err({ code: 'PATH_SLOT_MALFORMED', name }) : ok(slot)
  },
}

/** A path parameter with an address of any network. */
export const anyAddress: Parameter<{ readonly text: string; readonly key: Hex }> = {
  shape: about('Address in Bech32 or Bech32m, with any human-readable part.', bech32).shape,
  read: (text = '', { argument }) => {
    const address = addressKeyOfEither(text, argument)
    return address.ok ? ok({ text, key: address.value.key }) : address
  },
}

/** Creates a parameter with an address of this network. */
export function address(sentence: string): Parameter<Hex> {
  return {
    shape: about(sentence, bech32).shape,
    read: (text = '', { argument, bech32Hrp }) => addressKeyOf(bech32Hrp, text, argument),
  }
}

/** Creates a parameter with an address of this network and of one kind, whose serialization begins with `type`. */
export function addressOfKind(sentence: string, expected: string, type: Hex): Parameter<Hex> {
  const ofNetwork = address(sentence)
  return {
    ...ofNetwork,
    read: (text, context) => {
      const key = ofNetwork.read(text, context)
      if (!key.ok || key.value.startsWith(type)) return key
      return err({ code: 'ADDRESS_OF_ANOTHER_KIND', argument: context.argument, expected })
    },
  }
}

const accountType = addressKeyPrefix(AccountAddress)

/** Creates a parameter with an account address of this network; its value is the account id. */
export function account(sentence: string): Parameter<AccountId> {
  const ofNetwork = address(sentence)
  return {
    ...ofNetwork,
    read: (text, context) => {
      const key = ofNetwork.read(text, context)
      if (!key.ok) return key
      if (key.value.startsWith(accountType)) {
        return ok(`0x${key.value.slice(accountType.length)}` as AccountId)
      }
      return err({ code: 'ADDRESS_NOT_AN_ACCOUNT', argument: context.argument })
    },
  }
}

/** Creates a query parameter with a 32-bit number. */
export function number32(sentence: string): Parameter<number | undefined>
export function number32(sentence: string, otherwise: number): Parameter<number>
export function number32(sentence: string, otherwise?: number): Parameter<number | undefined> {
  return {
    shape: {
      ...about(sentence, uint32).shape,
      ...(otherwise !== undefined && { default: otherwise }),
    },
    read: (text, { name }) => {
      if (text === undefined) return ok(otherwise)
      // Slots have the same width.
      const number = parseSlot(text)
      return number === undefined
        ? malformed(name, 'a whole number from 0 to 4294967295')
        : ok(number)
    },
  }
}

/** Creates a query parameter with the number of seconds to wait; 0 by default. */
export function seconds(sentence: string): Parameter<number> {
  return {
    shape: limited({ maximum: maxSeconds, default: 0 }, about(sentence, count)).shape,
    read: (text = '0', { name }) => {
      const wait = /^[0-9]{1,3}$/.test(text) ? Number(text) : maxSeconds + 1
      return wait > maxSeconds ? malformed(name, `0 to ${maxSeconds} seconds`) : ok(wait)
    },
  }
}

const maxSeconds = 60

/** The page size: 100 by default, reduced to 1000 if larger, and refused below 1. */
export const pageSize: Parameter<number> = {
  shape: limited(
    { minimum: 1, default: defaultPageSize },
    about(
      `Elements per page. A larger number is reduced to ${maxPageSize}. A cursor overrides it.`,
      count,
    ),
  ).shape,
  read: (text, { name }) => {
    if (text === undefined) return ok(defaultPageSize)
    const size = parsePageSize(text)
    if (size === undefined)
      return malformed(name, 'a whole number of at least 1 that fits into 64 bits')
    return ok(Math.min(size, maxPageSize))
  },
}

/** Creates the page size of the core API and the indexer: 0 and texts that are not numbers mean the maximum. */
export function lenientPageSize(limit: number): Parameter<number> {
  return {
    shape: limited(
      { default: limit },
      about(
        `Elements per page, at most ${limit}. 0 and values that are not numbers mean ${limit}.`,
        count,
      ),
    ).shape,
    read: (text) => ok(sizeUpTo(limit, text)),
  }
}

/** Parses a page size of at most `limit`; a text that is not a number of at least 1 means `limit`. */
export function sizeUpTo(limit: number, text: string | undefined): number {
  const size = /^[0-9]{1,10}$/.test(text ?? '') ? Number(text) : 0
  return size === 0 ? limit : Math.min(size, limit)
}

/** The order of a list. */
export const sort: Parameter<UpdateSort> = {
  shape: limited(
    { default: 'newest' },
    about('Order of the list. It is not part of the cursor.', word('newest', 'oldest')),
  ).shape,
  read: (text = 'newest', { name }) => {
    if (text === 'newest') return ok('NEWEST')
    return text === 'oldest' ? ok('OLDEST') : malformed(name, 'oldest or newest')
  },
}
