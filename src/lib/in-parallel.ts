import type { Result } from './result.ts'

/**
 * Runs `work` for all items, at most `limit` at a time. The results are in the order of the items. After the first error no further
 * item is started, and the error is returned when the running items have ended.
 */
export async function inParallel<I, T, E>(
  items: readonly I[],
  limit: number,
  work: (item: I) => Promise<Result<T, E>>,
): Promise<Result<T[], E>> {
  const values: T[] = []
  let failed: Result<never, E> | undefined
  let next = 0

  async function workOff(): Promise<void> {
    for (let at = next++; failed === undefined; at = next++) {
      const item = items[at]
      if (item === undefined) return
      const result = await work(item)
      if (result.ok) values[at] = result.value
      else failed ??= result
    }
  }

  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, workOff))
  return failed ?? { ok: true, value: values }
}
