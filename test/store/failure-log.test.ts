import { expect, test } from 'vitest'
import { createFailureLog } from '../../src/store/failure-log.ts'
import { createMemoryLog } from '../support/memory-log.ts'

test('a failure log omits faults of the store and repetitions of the last failure', () => {
  const { log, events } = createMemoryLog()
  const logFailure = createFailureLog(log)
  const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  for (const failure of [new Error('a'), new Error('a'), away, new Error('b'), new Error('a')]) {
    logFailure('task-failed', failure)
  }
  expect(events()).toMatchObject(
    ['a', 'b', 'a'].map((message) => ({
      event: 'task-failed',
      level: 'error',
      error: { message },
    })),
  )
})
