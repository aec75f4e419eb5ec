import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHeap } from '../../src/lib/heap.ts'

interface Item {
  readonly key: number
  readonly added: number
}

const isBefore = (a: Item, b: Item) => (a.key === b.key ? a.added < b.added : a.key < b.key)

test('items leave in their order', () => {
  const steps = fc.array(fc.option(fc.integer({ min: 0, max: 9 }), { freq: 3 }))
  fc.assert(
    fc.property(steps, (keys) => {
      const heap = createHeap<Item>(isBefore)
      const expected: Item[] = []
      for (const [added, key] of keys.entries()) {
        if (key === null) {
          heap.shift()
          expected.shift()
        } else {
          const item = { key, added }
          heap.add(item)
          expected.push(item)
          expected.sort((a, b) => (isBefore(a, b) ? -1 : 1))
        }
        expect(heap.first()).toBe(expected[0])
      }
    }),
  )
})
