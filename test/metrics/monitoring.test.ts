import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { endEvents, singleEvents } from '../../src/metrics/outages.ts'
import { graphql, socketClient } from '../support/client.ts'
import { databases } from '../support/databases.ts'
import { rest } from '../support/rest.ts'
import { type Scrape, scrape } from '../support/scrape.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'
import { addressOf, untilHealth, user } from '../support/wallet.ts'

/** The dashboard and the alert rules name existing metrics and cover every log event that an operator acts on. */

const alerts = readFileSync('deploy/monitoring/alerts.yaml', 'utf8')
const dashboard = JSON.parse(readFileSync('deploy/monitoring/dashboard.json', 'utf8'))
const operations = readFileSync('docs/operations.md', 'utf8')

const rules = alerts.split('- alert: ').slice(1)
const ruleExpressions = rules.map((rule) => /^\s+expr: (.+)$/m.exec(rule)?.[1] ?? '')
const panelExpressions: string[] = dashboard.panels.flatMap(
  ({ targets = [] }: { readonly targets?: readonly { readonly expr: string }[] }) =>
    targets.map(({ expr }) => expr),
)
const [, log = ''] = operations.split('\n## The log\n')
const [eventTable = ''] = log.split('\n## ')
const rows = eventTable
  .split('\n')
  .filter((line) => /^\| `[a-z-]+`/.test(line))
  .map((line) => line.split('|').slice(1, 3))

/** Returns the events in a cell of the table. Its first two columns have the events of a beginning and of an end. */
const eventsIn = (cell = '') => Array.from(cell.matchAll(/`([a-z-]+)`/g), ([, event = '']) => event)
const begins = rows.flatMap(([cell]) => eventsIn(cell))

/** Returns the metrics that a PromQL expression names, without its functions, labels and keywords. */
function metricsIn(expression: string): string[] {
  return expression.match(/\b(ledger_gateway|nodejs|process)_[a-z0-9_]+/g) ?? []
}

/** A condition of an expression on the series of a metric: they have a label, with a value if it is given. */
interface Selection {
  readonly metric: string
  readonly label: string
  readonly value: string | undefined
}

/** Returns the labels in braces, and those of each `by` for the metrics after it, without the labels that Prometheus adds. */
function selectionsIn(expression: string): Selection[] {
  const inBraces = Array.from(
    expression.matchAll(/\b((?:ledger_gateway|nodejs|process)_[a-z0-9_]+)\{([^}]*)\}/g),
    ([, metric = '', labels = '']) =>
      Array.from(labels.matchAll(/(\w+)(=~?)"([^"]*)"/g), ([, label = '', operator, value]) => ({
        metric,
        label,
        value: operator === '=' ? value : undefined,
      })),
  )
  const grouped = expression.split(/\bby \(/).slice(1)
  const byGroup = grouped.flatMap((part) => {
    const [labels = '', rest = ''] = part.split(/\)(.*)/)
    const names = labels.split(', ')
    return metricsIn(rest).map((metric) =>
      names.map((label) => ({ metric, label, value: undefined })),
    )
  })
  return [...inBraces, ...byGroup]
    .flat()
    .filter(({ label }) => label !== 'instance' && label !== 'job')
}

/** Returns the conditions that no series of these scrapes meets. */
function unmetIn(expressions: readonly string[], scrapes: readonly Scrape[]): Selection[] {
  return expressions.flatMap(selectionsIn).filter(({ metric, label, value }) => {
    const values = scrapes.flatMap((one) => one.labels(metric, label))
    return value === undefined ? values.length === 0 : !values.includes(value)
  })
}

let gateway: TestGateway
let served: Scrape
beforeAll(async () => {
  gateway = await startGateway({ env: { METRICS_PORT: '0' } })
  await graphql(gateway.url, 'query Any { health { term } }')
  served = await until(async () => {
    const now = await scrape(gateway.metricsUrl)
    return now.sum('nodejs_gc_duration_seconds_count') > 0 && now
  })
})
afterAll(() => gateway.close())

/** Scrapes a gateway and a gateway that follows it, during a subscription and a payment. */
async function scrapesUnderLoad(): Promise<readonly Scrape[]> {
  const database = await present(databases.at(-1), 'a database').create()
  const upstream = { LEDGER: 'upstream', UPSTREAM_URLS: gateway.url, DATABASE_URL: database.url }
  await untilHealth(gateway.url)
  const follower = await startGateway({ env: { ...upstream, METRICS_PORT: '0' } })
  const client = socketClient(gateway.url)
  try {
    const address = addressOf(user(3))
    const query = `subscription Load { ledgerUpdates(addresses: ["${address}"]) { __typename } }`
    const events = client.iterate({ query })[Symbol.asyncIterator]()
    await events.next()
    const body = JSON.stringify({ address })
    const headers = { 'content-type': 'application/json' }
    await rest(`${gateway.url}/api/enqueue?wait=30`, { method: 'POST', headers, body })
    await events.next()
    return await Promise.all([gateway, follower].map((one) => scrape(one.metricsUrl)))
  } finally {
    await client.dispose()
    await follower.close()
    await database.remove()
  }
}

describe('the metrics', () => {
  test('of every alert rule exist', () => {
    expect(rules.length).toBeGreaterThan(20)
    const missing = ruleExpressions.flatMap((expression) => {
      const named = metricsIn(expression)
      expect(named, expression).not.toEqual([])
      return named.filter((name) => !served.names.has(name))
    })
    // A histogram without labels has series from the start, one with labels from its first value.
    expect(missing).toEqual([])
    // All series exist from the start: a series that begins later with 1 shows no increase.
    expect(unmetIn(ruleExpressions, [served])).toEqual([])
  })

  test('of every panel exist', () => {
    expect(panelExpressions.length).toBeGreaterThan(40)
    const bare = panelExpressions.flatMap(metricsIn).map((name) => familyOf(name, served))
    expect(bare.filter((name) => !served.names.has(name))).toEqual([])
  })

  test('of every panel have series with its labels under load', async () => {
    const scrapes = await scrapesUnderLoad()
    expect(unmetIn(panelExpressions, scrapes)).toEqual([])
    const bare = panelExpressions.flatMap(metricsIn)
    expect(bare.filter((name) => scrapes.every((one) => !one.has(name)))).toEqual([])
  })

  test('that do not exist are detected', () => {
    const named = metricsIn('sum(rate(ledger_gateway_other_total{code="a"}[5m])) > 0')
    expect(named).toEqual(['ledger_gateway_other_total'])
    expect(served.names.has('ledger_gateway_other_total')).toBe(false)
    const wrong = 'sum by (le, event) (rate(ledger_gateway_trouble{event="disk-gone",of="a"}[5m]))'
    expect(unmetIn([wrong], [served]).map(({ label }) => label)).toEqual(['event', 'of', 'le'])
  })

  test('are exactly those in the table of docs/operations.md', () => {
    const [, table = ''] = operations.split('## Metrics')
    const listed = Array.from(table.matchAll(/^\| (`[a-z_`, ]+) \|/gm), ([, cell = '']) => cell)
    const names = listed.flatMap((cell) =>
      Array.from(cell.matchAll(/`([a-z_]+)`/g), ([, name]) => `ledger_gateway_${name}`),
    )
    const families = [...served.names].filter((name) => name.startsWith('ledger_gateway_'))
    const there = families.filter((name) => !/_(bucket|sum|count)$/.test(name))
    expect(names.sort()).toEqual(there.sort())
  })
})

describe('each log event in the table of docs/operations.md', () => {
  test('has an event that ends it or is a single event', () => {
    const single = new Set(singleEvents)
    expect(begins.filter((event) => !(event in endEvents) && !single.has(event))).toEqual([])
    expect([...Object.keys(endEvents), ...singleEvents].sort()).toEqual([...begins].sort())
    for (const [cell, over] of rows) {
      for (const [at, event] of eventsIn(cell).entries()) {
        const ends = endEvents[event] ?? []
        if (ends.length > 0) expect(ends, event).toContain(eventsIn(over)[at] ?? eventsIn(over)[0])
      }
    }
  })

  test('has an alert rule', () => {
    const watched = ruleExpressions.flatMap((expression) =>
      Array.from(expression.matchAll(/event="([a-z-]+)"/g), ([, event]) => event),
    )
    expect([...new Set(watched)].sort()).toEqual([...begins].sort())
  })
})

test('a process that has ended has an alert rule, although it serves no metrics', () => {
  const gone = ruleExpressions.filter((expression) => /\(up\) == 0/.test(expression))
  expect(gone.map((expression) => metricsIn(expression))).toEqual([['ledger_gateway_info']])
})

test('an alert rule that joins two metrics joins those of one process', () => {
  const joins = ruleExpressions.flatMap((expression) => expression.match(/\bon \(.*?\)/g) ?? [])
  expect(joins).not.toEqual([])
  // With WORKERS one instance serves the metrics of several processes.
  expect(joins.filter((join) => join !== 'on (instance, worker)')).toEqual([])
})

test('each alert rule has a unique name, a severity and a summary', () => {
  const names = rules.map((rule) => /^\w+/.exec(rule)?.[0])
  expect(new Set(names).size).toBe(rules.length)
  for (const rule of rules) {
    expect(rule).toMatch(/severity: (critical|warning)\n/)
    expect(rule).toMatch(/summary: ".+"/)
  }
})

/** Returns the histogram of a series, which is served before its first series. */
function familyOf(name: string, { names }: Scrape): string {
  const family = name.replace(/_(bucket|sum|count)$/, '')
  return names.has(name) || !names.has(family) ? name : family
}
