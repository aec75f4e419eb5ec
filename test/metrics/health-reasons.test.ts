import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { status } from '../../src/cli/status.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { inWords } from '../../src/lib/in-words.ts'
import {
  type HealthReason,
  healthReasonCodes,
  healthReasons,
} from '../../src/node/health-reasons.ts'
import { graphql } from '../support/client.ts'
import { rest, restJson } from '../support/rest.ts'
import { runCommand } from '../support/run-command.ts'
import { scrape } from '../support/scrape.ts'
import { createSettableClock, type SettableClock } from '../support/settable-clock.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { untilHealth } from '../support/wallet.ts'

/** The same health reasons in REST, GraphQL, the metrics, the command line and the documentation. */

let gateway: TestGateway
let clock: SettableClock
beforeAll(async () => {
  clock = createSettableClock(systemClock.nowNs())
  gateway = await startGateway({ clock, env: { METRICS_PORT: '0', DRAIN_DELAY: '0' } })
  await untilHealth(gateway.url)
})
afterAll(() => gateway.close())

/** Returns the reasons that every interface of the gateway reports, and the status of `/health/ready`. */
async function reasonsEverywhere() {
  const { url, metricsUrl } = gateway
  const ready = await rest(`${url}/health/ready`)
  const { data } = await graphql(url, '{ health { reasons } status { health { reasons } } }')
  const served = await scrape(metricsUrl)
  const metric = 'ledger_gateway_not_ready'
  const words = await runCommand(status, [url], { isTerminal: true })
  return {
    status: ready.status,
    rest: (await ready.json()).reasons,
    graphql: data.health.reasons,
    ofStatus: data.status.health.reasons,
    metrics: healthReasonCodes.filter((reason) => served.sum(metric, { reason }) === 1),
    isHealthy: served.sum('ledger_gateway_healthy') === 1,
    command: [words.code, words.stdout],
  }
}

/** Returns the expected result of `reasonsEverywhere` for these reasons. */
function everywhere(...reasons: HealthReason[]) {
  const words = reasons.map(inWords)
  const isHealthy = reasons.length === 0
  const healthLine = isHealthy
    ? expect.stringMatching(/^ +health +healthy$/m)
    : expect.stringContaining(`not healthy: ${words.join(', ')}\n`)
  const shared = { graphql: reasons, ofStatus: reasons, metrics: reasons, rest: words }
  return {
    ...shared,
    status: isHealthy ? 200 : 503,
    isHealthy,
    command: [isHealthy ? 0 : 1, healthLine],
  }
}

describe('all interfaces have the same health reasons:', () => {
  test('none, one and two', async () => {
    expect(await reasonsEverywhere()).toEqual(everywhere())
    clock.set(clock.nowNs() - 3_600n * 1_000_000_000n)
    await untilHealth(gateway.url, 503)
    expect(await reasonsEverywhere()).toEqual(everywhere('CLOCK_BEHIND'))
    await gateway.announceStop()
    expect(await reasonsEverywhere()).toEqual(everywhere('CLOSING', 'CLOCK_BEHIND'))
    const { stdout } = await runCommand(status, [gateway.url], { isTerminal: true })
    expect(stdout).toContain(healthReasons.CLOSING)
    expect(stdout).toContain(healthReasons.CLOCK_BEHIND)
    expect((await rest(`${gateway.url}/health/live`)).status).toBe(200)
  })

  test('and list all of them in the metrics, the schema and the OpenAPI document', async () => {
    const served = await scrape(gateway.metricsUrl)
    expect(served.labels('ledger_gateway_not_ready', 'reason')).toEqual(healthReasonCodes)
    const { data } = await graphql(
      gateway.url,
      '{ __type(name: "HealthReason") { enumValues { name } } }',
    )
    const names = data.__type.enumValues.map(({ name }: { readonly name: string }) => name)
    expect(names.sort()).toEqual([...healthReasonCodes].sort())
    const { paths } = await restJson(`${gateway.url}/openapi.json`)
    const { schema } = paths['/health/ready'].get.responses[503].content['application/json']
    // An overloaded gateway answers with an error instead.
    const [answer] = schema.anyOf
    expect(answer.properties.reasons.items.enum).toEqual(healthReasonCodes.map(inWords))
    expect(answer.required).toContain('reasons')
  })
})

test('docs/operations.md has each health reason with its sentence', () => {
  const operations = readFileSync('docs/operations.md', 'utf8')
  const [, section = ''] = operations.split('\n## Health\n')
  const [own = ''] = section.split('\n## ')
  const rows = Array.from(own.matchAll(/^\| `([a-z ]+)` \| (.+) \|$/gm), ([, word, sentence]) => [
    word,
    sentence,
  ])
  const list = healthReasonCodes.map((code) => [inWords(code), healthReasons[code]])
  expect(rows).toEqual(list)
})
