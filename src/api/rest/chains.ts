import { present } from '../../lib/assert.ts'
import { err, ok } from '../../lib/result.ts'
import { activateChain } from '../../service/chain-records/activate-chain.ts'
import { listChainRecords } from '../../service/chain-records/chain-records.ts'
import { maximumPageSize } from '../../service/updates/list-ledger-updates.ts'
import { chainParams, chainRecordForm, ifMatch, recordReply } from './chain-record.ts'
import { about, limited, listOf, object, text } from './form.ts'
import { nextCursor } from './page-cursor.ts'
import { type Parameter, pageSize } from './parameters.ts'
import { jsonReply } from './reply.ts'
import { type Route, readRoute, route } from './route.ts'

/** Chains by their records: listing them, and making them active or inactive (rest.md 2.1). */

const cursorText = limited({ pattern: '^[A-Za-z0-9_-]*$' }, text)

/** Empty: from the beginning, as for every list that a client pages through. */
const cursor: Parameter<string | undefined> = {
  shape: about('Of the page before.', cursorText).shape,
  read: (given) => ok(given === '' ? undefined : given),
}

/** The records of all chains, by chain id. */
export const chainsRoute = readRoute({
  path: '/v1/chains',
  about: 'The records of all chains, by chain id, page by page.',
  query: { pageSize, cursor },
  reply: jsonReply(
    'A page of them.',
    object({
      items: listOf(chainRecordForm, maximumPageSize),
      cursor: nextCursor(cursorText),
    }),
  ),
  answer: async ({ pageSize: first, cursor: after }, services) => {
    const page = await listChainRecords(services, { first, after })
    // The cursor has another name here.
    if (!page.ok) return err({ ...page.error, argument: 'query: cursor' })
    const { nodes, hasNextPage, cursorAt } = page.value
    return ok({
      items: nodes,
      cursor: (await hasNextPage()) ? cursorAt(nodes.length - 1) : undefined,
    })
  },
})

/** Makes a chain active. */
export const activateRoute = switchRoute('activate', true)

/** Makes a chain inactive. */
export const deactivateRoute = switchRoute('deactivate', false)

/** The checks have the order of the record's own route; a body is not read. */
function switchRoute(word: string, isActive: boolean): Route {
  const reply = recordReply('The record as it is now.')
  return route({
    method: 'POST',
    path: `/v1/chains/{chainID}/${word}`,
    about: `Makes a chain ${isActive ? 'active' : 'inactive'}; the rest of its record stays as it is.`,
    token: 'needed',
    params: chainParams,
    headers: ifMatch,
    answers: { 200: reply },
    errors: [401, 403, 404, 412],
    answer: async ({ chainID: chainId, 'If-Match': onlyOver }, services, request) => {
      const { name: setBy } = present(request.identity, 'the holder of the token')
      const record = await activateChain(services, { chainId, isActive, setBy, onlyOver })
      return record.ok ? ok(reply.respond(request, record.value)) : record
    },
  })
}
