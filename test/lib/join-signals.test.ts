import { describe, expect, test } from 'vitest'
import { joinSignals } from '../../src/lib/join-signals.ts'

describe('joined signals', () => {
  test('abort with the first signal that aborts, also if it has aborted before', () => {
    const [first, second] = [new AbortController(), new AbortController()]
    const { joined } = joinSignals(first.signal, second.signal)
    expect(joined.aborted).toBe(false)
    second.abort()
    expect(joined.aborted).toBe(true)
    expect(joinSignals(first.signal, second.signal).joined.aborted).toBe(true)
  })

  test('are released when they are left', () => {
    const { signal } = new AbortController()
    const { joined, leave } = joinSignals(signal)
    leave()
    expect(joined.aborted).toBe(true)
    expect(signal.aborted).toBe(false)
  })
})
