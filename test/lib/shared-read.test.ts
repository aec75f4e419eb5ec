import { expect, test } from 'vitest'
import { sharedRead } from '../../src/lib/shared-read.ts'

/** Creates a shared read whose reads the test ends one by one. */
function pendingReads() {
  const begun: { resolve(answer: string): void; reject(failure: Error): void }[] = []
  const read = sharedRead(
    () => new Promise<string>((resolve, reject) => begun.push({ resolve, reject })),
  )
  return { begun, read }
}

test('a call during a read waits for a read that begins after the call, together with others', async () => {
  const { begun, read } = pendingReads()
  const first = read()
  const [second, third] = [read(), read()]
  expect(begun).toHaveLength(1)
  begun[0]?.resolve('before')
  expect(await first).toBe('before')
  expect(begun).toHaveLength(2)
  const fourth = read()
  begun[1]?.resolve('after')
  expect(await Promise.all([second, third])).toEqual(['after', 'after'])
  begun[2]?.resolve('later')
  expect(await fourth).toBe('later')
  expect(begun).toHaveLength(3)
})

test('a read that fails does not fail the calls that wait for the next one', async () => {
  const { begun, read } = pendingReads()
  const [first, second] = [read(), read()]
  begun[0]?.reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  begun[1]?.resolve('there')
  expect(await second).toBe('there')
  const third = read()
  begun[2]?.resolve('again')
  expect(await third).toBe('again')
})
