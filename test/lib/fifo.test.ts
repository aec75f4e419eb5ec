import { expect, test } from 'vitest'
import { createFifo } from '../../src/lib/fifo.ts'

test('the first element leaves first, however many came and left before', () => {
  const fifo = createFifo<number>()
  const model: number[] = []
  let next = 0
  for (let round = 0; round < 200; round++) {
    const [coming, leaving] = [(round * 37) % 101, (round * 53) % 97]
    for (let i = 0; i < coming; i++) {
      fifo.push(next)
      model.push(next++)
    }
    for (let i = 0; i < leaving; i++) expect(fifo.shift()).toBe(model.shift())
    expect(fifo.length).toBe(model.length)
  }
  while (model.length > 0) expect(fifo.shift()).toBe(model.shift())
  expect([fifo.shift(), fifo.length]).toEqual([undefined, 0])
})

test('a long queue is fast', () => {
  const fifo = createFifo<number>()
  for (let i = 0; i < 300_000; i++) fifo.push(i)
  let sum = 0
  for (let i = 0; i < 300_000; i++) sum += fifo.shift() ?? 0
  expect(sum).toBe((300_000 * 299_999) / 2)
})
