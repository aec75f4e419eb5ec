import { createServer } from 'node:http'
import { serve } from './serve.ts'

/** The control of a measurement: a bare handler that computes for the time in the header `busy-us`, and reads no database. */

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const until = performance.now() + Number(request.headers['busy-us'] ?? 0) / 1_000
    while (performance.now() < until);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
})

const body = JSON.stringify({ data: null })

serve(server)
