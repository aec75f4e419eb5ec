import { expect, test } from 'vitest'
import { until } from './until.ts'

test('gives what is found, also where that is 0 or empty', async () => {
  const looks = [undefined, false, 0] as const
  let asked = 0
  expect(await until(() => looks[asked++])).toBe(0)
  expect(await until(async () => '')).toBe('')
})

test('names what it waited for when it is never so', async () => {
  const one: number = 1
  await expect(until(() => one === 2, { deadlineMs: 30 })).rejects.toThrow(
    'waited 30 ms in vain until () => one === 2',
  )
  await expect(until(() => false, { deadlineMs: 0, what: 'pigs fly' })).rejects.toThrow('pigs fly')
})
