import { LRUCache } from 'lru-cache'
import { expect, test } from 'vitest'
import { repeatCache } from '../../src/lib/repeat-cache.ts'

test('a value is cached from the second time on that its key is added', () => {
  const cache = repeatCache(new LRUCache<string | number, string>({ max: 10 }))
  for (const key of ['0x01', 7]) {
    cache.add(key, 'first')
    expect(cache.get(key)).toBeUndefined()
    cache.add(key, 'second')
    expect(cache.get(key)).toBe('second')
  }
})

test('values that are added once evict no value that is added repeatedly', () => {
  const cache = repeatCache(new LRUCache<string, string>({ max: 2 }))
  cache.add('often', 'value')
  cache.add('often', 'value')
  for (let n = 0; n < 1_000; n++) cache.add(`once ${n}`, 'value')
  expect(cache.get('often')).toBe('value')
})
