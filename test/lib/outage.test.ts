import { expect, test } from 'vitest'
import { createOutage } from '../../src/lib/outage.ts'
import { createMemoryLog } from '../support/memory-log.ts'

test('an outage is logged when it begins and when it ends, and again when it recurs', () => {
  const { log, events } = createMemoryLog()
  const outage = createOutage(log, { began: 'pipe-broken', over: 'pipe-mended' })
  outage.recovered()
  outage.failed('frost')
  outage.failed('rust')
  outage.recovered()
  outage.recovered()
  outage.failed('roots')
  expect(events()).toMatchObject([
    { event: 'pipe-broken', level: 'warn', reason: 'frost' },
    { event: 'pipe-mended', level: 'info', lastedMs: expect.any(Number) },
    { event: 'pipe-broken', level: 'warn', reason: 'roots' },
  ])
})
