import { err, ok, type Result } from '../../lib/result.ts'
import { defaultPageSize, maximumPageSize } from '../../service/list-ledger-updates.ts'
import { parsePageSize } from '../../service/update-place.ts'
import type { QueryParameterMalformed } from './ledger-updates.ts'
import { about, count } from './openapi/shape.ts'

/** How long a page is, for every list: 100 where nothing is said, cut to 1000, and refused below 1. */

/** The parameter as it is described. */
export const pageSizeParameter = about('At most 1000; more is cut to that.', {
  ...count,
  minimum: 1,
  default: defaultPageSize,
})

/** Reads it. */
export function readPageSize(
  query: ReadonlyMap<string, string>,
): Result<number, QueryParameterMalformed> {
  const text = query.get('pageSize')
  if (text === undefined) return ok(defaultPageSize)
  const size = parsePageSize(text)
  if (size !== undefined) return ok(Math.min(size, maximumPageSize))
  return err({
    code: 'QUERY_PARAMETER_MALFORMED',
    name: 'pageSize',
    expected: 'a whole number from 1 up',
  })
}
