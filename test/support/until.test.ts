import { expect, test } from 'vitest'
import { until } from './until.ts'

test('until returns the found value, also if it is 0 or empty', async () => {
  const looks = [undefined, false, 0] as const
  let calls = 0
  expect(await until(() => looks[calls++])).toBe(0)
  expect(await until(async () => '')).toBe('')
})

test('until rejects at the deadline with the text of the condition', async () => {
  const one: number = 1
  await expect(until(() => one === 2, { deadlineMs: 30 })).rejects.toThrow(
    'waited 30 ms in vain until () => one === 2',
  )
  await expect(until(() => false, { deadlineMs: 0, what: 'pigs fly' })).rejects.toThrow('pigs fly')
})
