import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createWake } from '../../src/feed/wake.ts'

/** Long enough that a test which needs the tick exceeds its own time limit. */
const never = 2 ** 30

describe('wake', () => {
  test('ends a wait when the log grows beyond the position that the reader knows', async () => {
    const wake = createWake()
    const woken = wake.wait({ beyond: 5, signal: new AbortController().signal, tickMs: never })
    wake.notify(6)
    expect(await woken).toBe(6)
  })

  test('lets no reader wait for an earlier commit', async () => {
    const wake = createWake()
    wake.notify(6)
    const { signal } = new AbortController()
    expect(await wake.wait({ beyond: 5, signal, tickMs: never })).toBe(6)
  })

  test('ends a wait for a milestone without updates too', async () => {
    const wake = createWake()
    const { signal } = new AbortController()
    const woken = wake.wait({ beyond: 6, signal, tickMs: never })
    expect(wake.waiting()).toBe(1)
    wake.notify(6)
    expect(await woken).toBe(6)
    expect([wake.waiting(), wake.newest()]).toEqual([0, 6])
  })

  test('does not lose a milestone without updates before the wait', async () => {
    const wake = createWake()
    const { signal } = new AbortController()
    wake.notify(6)
    expect(await wake.wait({ beyond: 6, signal, tickMs: never })).toBe(6)
    expect(await wake.wait({ beyond: 6, signal, tickMs: 1 })).toBe(6)
  })

  test('never goes back when an older commit is notified late', async () => {
    const wake = createWake()
    wake.notify(7)
    wake.notify(6)
    const { signal } = new AbortController()
    expect(await wake.wait({ beyond: 6, signal, tickMs: never })).toBe(7)
  })

  test('ends a wait by the tick when no wake-up comes', async () => {
    const wake = createWake()
    const { signal } = new AbortController()
    expect(await wake.wait({ beyond: 5, signal, tickMs: 1 })).toBe(0)
  })

  const endings = [
    ['growth', (wake: ReturnType<typeof createWake>) => wake.notify(6)],
    ['abort', (_wake: unknown, controller: AbortController) => controller.abort()],
  ] as const
  test.each(endings)('leaves no wait and no listener after %s', async (_name, end) => {
    const wake = createWake()
    const controller = new AbortController()
    const { signal } = controller
    const waits = [5, 5, 5].map((beyond) => wake.wait({ beyond, signal, tickMs: never }))
    expect(wake.waiting()).toBe(3)
    expect(getEventListeners(signal, 'abort')).toHaveLength(3)
    end(wake, controller)
    await Promise.all(waits)
    expect(wake.waiting()).toBe(0)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('starts no wait with an aborted signal', async () => {
    const wake = createWake()
    await wake.wait({ beyond: 5, signal: AbortSignal.abort(), tickMs: never })
    expect(wake.waiting()).toBe(0)
  })
})
