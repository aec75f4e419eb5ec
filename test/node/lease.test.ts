import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import { awaitLease } from '../../src/node/lease.ts'
import { nameOfThisProcess } from '../../src/node/lease-holder.ts'
import { databases, useStore } from '../support/databases.ts'

const [host = '', , scope = ''] = nameOfThisProcess().split(':')
const longMs = 60_000

describe.each(databases)('taking the lease on $name', ({ create }) => {
  const use = useStore(create)

  function take(signal = new AbortController().signal) {
    return awaitLease({ write: use.store.write, log: silentLog, holder: 'next' }, signal)
  }

  test.runIf(scope !== '')('from a killed process needs no wait', async () => {
    await heldBy(`${host}:${spawnSync(process.execPath, ['-e', '0']).pid}:${scope}`)
    expect(await take()).toMatchObject({ ok: true, value: { term: use.term + 2 } })
  })

  test('from a live process that renews it is refused, with the name of the holder', async () => {
    const term = await heldBy('elsewhere:1:00000000')
    const taken = take()
    await use.store.write.renewLease(term, longMs)
    expect(await taken).toMatchObject({
      ok: false,
      error: { code: 'LEASE_HELD', holder: 'elsewhere:1:00000000', term },
    })
    expect(await use.store.write.renewLease(term, longMs)).toMatchObject({ ok: true })
  })

  test('from a process that does not renew it succeeds after it expires', async () => {
    await heldBy('elsewhere:1:00000000', 150)
    expect(await take()).toMatchObject({ ok: true, value: { term: use.term + 2 } })
  })

  test('from a process that does not renew it succeeds after the clock of the database was set back', async () => {
    await heldBy('elsewhere:1:00000000', 3_600_000)
    expect(await take()).toMatchObject({ ok: true, value: { term: use.term + 2 } })
  })

  test('is given up at once when the command has to stop', async () => {
    const term = await heldBy('elsewhere:1:00000000', 3_600_000)
    const begun = performance.now()
    const refused = await take(AbortSignal.abort())
    expect(refused).toMatchObject({ ok: false, error: { code: 'LEASE_HELD', term } })
    expect(performance.now() - begun).toBeLessThan(5_000)
  })

  /** Passes the lease of the store to another holder. */
  async function heldBy(holder: string, ttlMs = longMs): Promise<number> {
    await use.store.write.releaseLease(use.term)
    const held = await use.store.write.takeLease({ holder, ttlMs })
    return held.ok ? held.value.term : 0
  }
})
