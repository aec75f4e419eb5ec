import { err, ok, type Result } from '../../lib/result.ts'
import { defaultPageSize, maximumPageSize } from '../../service/updates/list-ledger-updates.ts'
import { parsePageSize, parseSlot, type UpdateSort } from '../../service/updates/update-position.ts'
import type { QueryParameterMalformed } from '../api-errors.ts'
import { about, count, word } from './openapi/shape.ts'

/** The query parameters that many lists have in common (rest.md 3.1). */

/** A parameter that is not of its form. */
export function malformed(name: string, expected: string): Result<never, QueryParameterMalformed> {
  return err({ code: 'QUERY_PARAMETER_MALFORMED', name, expected })
}

type Query = ReadonlyMap<string, string>

/** How long a page is: 100 where nothing is said, cut to 1000, and refused below 1. */
export const pageSizeParameter = about(
  'At most 1000, to which more is cut; the cursor overrides it.',
  {
    ...count,
    minimum: 1,
    default: defaultPageSize,
  },
)

/** Reads it. */
export function readPageSize(query: Query): Result<number, QueryParameterMalformed> {
  const text = query.get('pageSize')
  if (text === undefined) return ok(defaultPageSize)
  const size = parsePageSize(text)
  if (size !== undefined) return ok(Math.min(size, maximumPageSize))
  return malformed('pageSize', 'a whole number from 1 up')
}

/** Which end of a list comes first. */
export const sortParameter = about('Not overridden by the cursor.', {
  ...word('newest', 'oldest'),
  default: 'newest',
})

/** Reads it. */
export function readSort(query: Query): Result<UpdateSort, QueryParameterMalformed> {
  const text = query.get('sort')
  if (text === undefined || text === 'newest') return ok('NEWEST')
  return text === 'oldest' ? ok('OLDEST') : malformed('sort', 'oldest or newest')
}

/** Reads a number of 32 bits, which may be left out. */
export function readNumber(
  query: Query,
  name: string,
): Result<number | undefined, QueryParameterMalformed> {
  const text = query.get(name)
  if (text === undefined) return ok(undefined)
  // Slots have the same width.
  const number = parseSlot(text)
  if (number !== undefined) return ok(number)
  return malformed(name, 'a whole number from 0 to 4294967295')
}

/** Where a page begins and how long it is; a cursor says both, as `PLACE.SIZE`. */
export interface PageAt {
  /** The text of the place; `undefined` for the beginning. */
  readonly place: string | undefined
  readonly pageSize: number
}

/** Reads the page; `form` is that of the place, and `described` says the cursor in words. */
export function readPageAt(
  query: Query,
  form: RegExp,
  described: string,
): Result<PageAt, QueryParameterMalformed> {
  const pageSize = readPageSize(query)
  if (!pageSize.ok) return pageSize
  const cursor = query.get('cursor')
  if (cursor === undefined) return ok({ place: undefined, pageSize: pageSize.value })
  const at = cursor.lastIndexOf('.')
  const place = cursor.slice(0, Math.max(at, 0))
  const size = parsePageSize(cursor.slice(at + 1))
  if (!form.test(place) || size === undefined) return malformed('cursor', described)
  return ok({ place, pageSize: Math.min(size, maximumPageSize) })
}
