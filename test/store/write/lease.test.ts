import { describe, expect, test } from 'vitest'
import { databases, openedStore, useStore } from '../../support/databases.ts'
import { booking, slotCommit, testGenesis } from '../../support/store-rows.ts'

describe.each(databases)('the lease on $name', ({ create }) => {
  const use = useStore(create)

  test('cannot be taken by others until it expires', async () => {
    const answer = await use.store.write.takeLease({ holder: 'other', ttlMs: 1_000 })
    expect(answer).toMatchObject({ ok: false, error: { code: 'LEASE_HELD', holder: 'test' } })
    const leftMs = answer.ok ? 0 : answer.error.until - Date.now()
    expect(leftMs).toBeGreaterThan(0)
    expect(leftMs).toBeLessThanOrEqual(60_000)
  })

  test('that has expired goes to the next holder with a higher term', async () => {
    await use.store.write.renewLease(use.term, 0)
    const answer = await use.store.write.takeLease({ holder: 'other', ttlMs: 1_000 })
    expect(answer).toEqual({ ok: true, value: { term: use.term + 1 } })
  })

  test('that has expired is renewed if nobody took it', async () => {
    await use.store.write.renewLease(use.term, 0)
    expect(await use.store.write.renewLease(use.term, 60_000)).toMatchObject({ ok: true })
    const answer = await use.store.write.takeLease({ holder: 'other', ttlMs: 1_000 })
    expect(answer).toMatchObject({ ok: false, error: { code: 'LEASE_HELD' } })
  })

  test('is free at once after a release', async () => {
    await use.store.write.releaseLease(use.term)
    expect(await use.store.write.takeLease({ holder: 'other', ttlMs: 1_000 })).toMatchObject({
      ok: true,
    })
  })

  test('of another holder is not released by a former one', async () => {
    await use.store.write.releaseLease(use.term)
    await use.store.write.takeLease({ holder: 'other', ttlMs: 60_000 })
    await use.store.write.releaseLease(use.term)
    const answer = await use.store.write.takeLease({ holder: 'third', ttlMs: 1_000 })
    expect(answer).toMatchObject({ ok: false, error: { code: 'LEASE_HELD', holder: 'other' } })
  })

  test('that is lost to another process stops every write of the former holder', async () => {
    await use.store.write.initialize(use.term, testGenesis())
    await use.store.write.releaseLease(use.term)
    const second = await openedStore(use.url)
    await second.write.takeLease({ holder: 'other', ttlMs: 60_000 })
    const { write } = use.store
    const answers = [
      await write.renewLease(use.term, 60_000),
      await write.closeSlots(use.term, 7),
      await write.book(use.term, booking({})),
      await write.commitSlots(use.term, [slotCommit(1)]),
      await write.initialize(use.term, testGenesis()),
    ]
    const lost = { ok: false, error: { code: 'LEASE_LOST', term: use.term } }
    expect(answers).toEqual(answers.map(() => lost))
    expect((await second.read.logTip()).slot).toBe(0)
    await second.close()
  })
})
