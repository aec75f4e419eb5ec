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

test('a failure log omits repetitions of two tasks that fail in turn', () => {
  const { log, names } = createMemoryLog()
  const logFailure = createFailureLog(log)
  for (let time = 0; time < 3; time++) {
    for (const task of ['one-failed', 'other-failed']) logFailure(task, new Error('the same'))
  }
  expect(names('one-failed', 'other-failed')).toEqual(['one-failed', 'other-failed'])
})
