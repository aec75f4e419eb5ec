import { activateChain } from '../../service/chain-records/activate-chain.ts'
import { parseChainId } from '../../service/chain-records/chain-id.ts'
import {
  encodeChainRecordCursor,
  listChainRecords,
} from '../../service/chain-records/chain-records.ts'
import { toRest } from '../errors.ts'
import {
  chainParams,
  chainRecordJson,
  chainRecordShape,
  ifMatchHeader,
  readIfMatch,
  recordAnswer,
  recordHeaders,
} from './chain-record.ts'
import { about, listOf, object, optional, text } from './openapi/shape.ts'
import { pageSizeParameter, readPageSize } from './query.ts'
import { json, param, type Route } from './route.ts'

/** Chains by their records: listing them, and making them active or inactive (rest.md 2.1). */

const cursor = { ...text, pattern: '^[A-Za-z0-9_-]*$' }

/** The records of all chains, by chain id. */
export const chainsRoute: Route = {
  method: 'GET',
  path: '/v1/chains',
  about: 'The records of all chains, by chain id, page by page.',
  query: { pageSize: pageSizeParameter, cursor: about('Of the page before.', cursor) },
  answers: {
    200: {
      about: 'A page of them.',
      json: object({
        items: listOf(chainRecordShape, 1000),
        cursor: optional(about('Where the next page begins; absent where there is none.', cursor)),
      }),
    },
  },
  errors: [],
  answer: async ({ query }, services) => {
    const size = readPageSize(query)
    if (!size.ok) return toRest(size.error)
    const after = query.get('cursor')
    const page = await listChainRecords(services, {
      first: size.value,
      // From the beginning, as for every list that a client pages through.
      after: after === '' ? undefined : after,
    })
    // The cursor has another name here.
    if (!page.ok) return toRest({ ...page.error, argument: 'query: cursor' })
    const { records, hasNextPage } = page.value
    const last = records.at(-1)
    const next = hasNextPage && last !== undefined && encodeChainRecordCursor(last.chainId)
    return json(200, {
      items: records.map(chainRecordJson),
      ...(next !== false && { cursor: next }),
    })
  },
}

/** Makes a chain active. */
export const activateRoute = switchRoute('activate', true)

/** Makes a chain inactive. */
export const deactivateRoute = switchRoute('deactivate', false)

/** The checks come in the order of the record's own route; a body is not looked at. */
function switchRoute(word: string, isActive: boolean): Route {
  return {
    method: 'POST',
    path: `/v1/chains/{chainID}/${word}`,
    about: `Makes a chain ${isActive ? 'active' : 'inactive'}; the rest of its record stays as it is.`,
    token: 'needed',
    params: chainParams,
    headers: ifMatchHeader,
    answers: {
      200: { about: 'The record as it is now.', json: chainRecordShape, headers: recordHeaders },
    },
    errors: [401, 403, 404, 412],
    answer: async (request, services) => {
      const identity = await request.caller.requireWrite()
      if (!identity.ok) return toRest(identity.error)
      const chainId = parseChainId(param(request, 'chainID'), 'chainID')
      if (!chainId.ok) return toRest(chainId.error)
      const onlyOver = readIfMatch(request)
      if (!onlyOver.ok) return toRest(onlyOver.error)
      const record = await activateChain(services, {
        chainId: chainId.value,
        isActive,
        setBy: identity.value.name,
        onlyOver: onlyOver.value,
      })
      return record.ok ? recordAnswer(200, record.value) : toRest(record.error)
    },
  }
}
