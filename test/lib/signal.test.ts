import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createSignal } from '../../src/lib/signal.ts'

/** Long enough that a test which needs the deadline exceeds its own time limit. */
const never = 2 ** 30

describe('a signal', () => {
  test('ends every pending wait, and none that begins later', async () => {
    const signal = createSignal()
    const waits = [signal.wait(), signal.wait({ ms: never })]
    expect(signal.waiting()).toBe(2)
    signal.notify()
    expect(await Promise.all(waits)).toEqual([true, true])
    expect(signal.waiting()).toBe(0)
    expect(await signal.wait({ ms: 1 })).toBe(false)
  })

  test('keeps one notification between a check and the wait', async () => {
    const signal = createSignal()
    signal.notify()
    signal.notify()
    expect(await signal.wait({ ms: never })).toBe(true)
    expect(await signal.wait({ ms: 1 })).toBe(false)
  })

  test('keeps a notification between the end of a wait and the next one', async () => {
    const signal = createSignal()
    const first = signal.wait()
    signal.notify()
    signal.notify()
    expect(await first).toBe(true)
    expect(await signal.wait({ ms: never })).toBe(true)
  })

  test('ends a wait at its deadline', async () => {
    expect(await createSignal().wait({ ms: 1 })).toBe(false)
  })

  test('ends a wait on abort, and starts none with an aborted signal', async () => {
    const signal = createSignal()
    const controller = new AbortController()
    const waited = signal.wait({ signal: controller.signal })
    controller.abort()
    expect(await waited).toBe(false)
    expect(await signal.wait({ ms: never, signal: controller.signal })).toBe(false)
    expect(signal.waiting()).toBe(0)
  })

  const endings: [string, (notify: () => void, controller: AbortController) => void, number][] = [
    ['a notification', (notify) => notify(), never],
    ['abort', (_notify, controller) => controller.abort(), never],
    ['the deadline', () => {}, 1],
  ]
  test.each(endings)('leaves no listener after %s', async (_name, end, ms) => {
    const { notify, wait, waiting } = createSignal()
    const controller = new AbortController()
    const { signal } = controller
    const waits = [1, 2, 3].map(() => wait({ ms, signal }))
    expect([waiting(), getEventListeners(signal, 'abort').length]).toEqual([3, 3])
    end(notify, controller)
    await Promise.all(waits)
    expect([waiting(), getEventListeners(signal, 'abort').length]).toEqual([0, 0])
  })
})
