import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { faultOf, fuzz } from '../attack/fuzz.ts'
import { graphqlRequest } from '../attack/fuzz-graphql.ts'
import { restRequest } from '../attack/fuzz-rest.ts'
import { knownValues } from '../attack/known-values.ts'
import { createWorkMeter } from '../attack/work.ts'
import { restJson } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { untilHealth } from '../support/wallet.ts'

/** A server that uses 50 ms of processor time for some requests and reports a cost of 500 for each. */
const spinning = `
  let isFirst = true
  require('node:http').createServer(({ url }, response) => {
    const isSlow = url === '/slow' || (url === '/slow-at-first' && isFirst)
    if (url === '/slow-at-first') isFirst = false
    const { user } = process.cpuUsage()
    while (isSlow && process.cpuUsage().user - user < 50_000);
    response.setHeader('ratelimit', '"cost";r=500;t=1').setHeader('ratelimit-policy', '"cost";q=1000;w=10').end()
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
`

/** Random requests generated from the OpenAPI document and the schema; `npm run attack -- fuzz-rest N` sends more. */
describe('no response to random requests shows an internal error, a path or a statement', () => {
  const seed = 1
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
    await untilHealth(gateway.url)
  })
  afterAll(() => gateway.close())

  test('by REST', async () => {
    const { url } = gateway
    const token = await gateway.token('chain-record:write')
    const [document, known] = await Promise.all([restJson(`${url}/openapi.json`), knownValues(url)])
    const make = restRequest.bind(undefined, { document, known, token })
    const { faults, answers } = await fuzz({ url, seed, requests: 200, make })
    expect(faults).toEqual([])
    expect(answers.get('200')).toBeGreaterThan(20)
  })

  test('by GraphQL', async () => {
    const { url } = gateway
    const token = await gateway.token('chain-record:write')
    const schema = buildSchema(readFileSync('schema.graphql', 'utf8'))
    const make = graphqlRequest.bind(undefined, { schema, known: await knownValues(url), token })
    const { faults, answers } = await fuzz({ url, seed, requests: 200, make })
    expect(faults).toEqual([])
    expect(answers.get('200')).toBeGreaterThan(20)
  })

  test('a request that uses more processor time than its cost allows is reported', async () => {
    const server = spawn(process.execPath, ['-e', spinning], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [port] = await once(server.stdout, 'data')
    const url = `http://127.0.0.1:${port}`
    const pid = present(server.pid, 'its number')
    const meter = createWorkMeter({ url, pid, tokenOf: async () => '' })
    const targets = ['/', '/slow', '/slow-at-first', '/']
    const make = () => ({ target: targets.shift() ?? '/', init: {} })
    const { faults } = await fuzz({ url, seed, requests: targets.length, make, meter })
    expect(faults).toEqual([expect.stringMatching(/its cost of \d+ allows .* GET \/slow /)])
    server.kill()
  })

  test.each([
    ['a fault of its own', 500, '{}'],
    ['a fault of its own', 200, '{"errors":[{"extensions":{"code":"INTERNAL"}}]}'],
    ['a path of the machine', 400, `cannot open ${process.cwd()}/data`],
    ['a stack', 400, 'Error: x\n    at read (store.js:1)'],
    ['a statement', 503, 'near: SELECT seq FROM log WHERE seq > ?'],
  ])('%s in a response is reported', (fault, status, text) => {
    expect(faultOf(status, text)).toBe(fault)
    expect(faultOf(400, '{"message":"select one address from the list"}')).toBeUndefined()
  })
})
