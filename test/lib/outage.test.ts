import { expect, test } from 'vitest'
import { createOutage } from '../../src/lib/outage.ts'
import { createMemoryLog } from '../support/memory-log.ts'

test('a trouble is said when it begins and when it is over, and again when it comes again', () => {
  const { log, events } = createMemoryLog()
  const trouble = createOutage(log, { began: 'pipe-broken', over: 'pipe-mended' })
  trouble.recovered()
  trouble.failed('frost')
  trouble.failed('rust')
  trouble.recovered()
  trouble.recovered()
  trouble.failed('roots')
  expect(events()).toMatchObject([
    { event: 'pipe-broken', level: 'warn', reason: 'frost' },
    { event: 'pipe-mended', level: 'info', lastedMs: expect.any(Number) },
    { event: 'pipe-broken', level: 'warn', reason: 'roots' },
  ])
})
