import { createServer } from 'node:http'
import { listOf, pageOf } from './pages.ts'
import { serve } from './serve.ts'

/** `node:http`, prepared SQL and `JSON.stringify`: the GraphQL page of the gateway as a plain GET, and the REST list at `/rest`. */

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  const question = {
    address: searchParams.get('address') ?? '',
    first: Number(searchParams.get('first')),
    after: searchParams.get('after'),
  }
  const answer =
    pathname === '/rest'
      ? await listOf(question)
      : { data: { ledgerUpdates: await pageOf(question) } }
  const body = JSON.stringify(answer)
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
})
serve(server)
