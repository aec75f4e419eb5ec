import { present } from '../../lib/assert.ts'
import { err, ok } from '../../lib/result.ts'
import { activateChain } from '../../service/chain-records/activate-chain.ts'
import { listChainRecords } from '../../service/chain-records/chain-records.ts'
import { maxPageSize } from '../../service/updates/list-ledger-updates.ts'
import { chainParams, chainRecordForm, ifMatch, recordReply } from './chain-record.ts'
import { about, limited, listOf, object, text } from './form.ts'
import { nextCursor } from './page-cursor.ts'
import { type Parameter, pageSize } from './parameters.ts'
import { jsonReply } from './reply.ts'
import { type Route, readRoute, route } from './route.ts'

/** Routes that list chain records, and that activate or deactivate chains (rest.md 2.1). */

const cursorText = limited({ pattern: '^[A-Za-z0-9_-]*$' }, text)

/** The cursor of the list; an empty cursor means the beginning. */
const cursor: Parameter<string | undefined> = {
  shape: about('Cursor from the previous page; empty for the first page.', cursorText).shape,
  read: (given) => ok(given === '' ? undefined : given),
}

export const chainsRoute = readRoute({
  path: '/v1/chains',
  about: 'Returns the records of all chains, ordered by chain id, page by page.',
  query: { pageSize, cursor },
  reply: jsonReply(
    'A page of chain records.',
    object({
      items: listOf(chainRecordForm, maxPageSize),
      cursor: nextCursor(cursorText),
    }),
  ),
  answer: async ({ pageSize: first, cursor: after }, services) => {
    const page = await listChainRecords(services, { first, after })
    // Errors of the service name the argument of GraphQL.
    if (!page.ok) return err({ ...page.error, argument: 'query: cursor' })
    const { nodes, hasNextPage, cursorAt } = page.value
    return ok({
      items: nodes,
      cursor: (await hasNextPage()) ? cursorAt(nodes.length - 1) : undefined,
    })
  },
})

export const activateRoute = switchRoute('activate', true)

export const deactivateRoute = switchRoute('deactivate', false)

/** The order of the checks is the same as for setting the record. A body is not read. */
function switchRoute(word: string, isActive: boolean): Route {
  const reply = recordReply('The updated record.')
  return route({
    method: 'POST',
    path: `/v1/chains/{chainID}/${word}`,
    about: `${isActive ? 'Activates' : 'Deactivates'} a chain. The rest of its record is unchanged.`,
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
