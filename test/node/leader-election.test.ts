import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import {
  type LeaderElection,
  type LeaderTerm,
  openLeaderElection,
} from '../../src/node/leader-election.ts'
import type { LeaseLost } from '../../src/store/contract/lease.ts'
import { databases, onDatabase, useStore } from '../support/databases.ts'
import { until } from '../support/until.ts'

describe.each(databases)('leader election on $name', ({ name, create }) => {
  const use = useStore(create)
  const open = new Set<LeaderElection>()

  afterEach(async () => {
    for (const election of open) await election.close()
    open.clear()
  })

  test('has one leader, and another as soon as its process learns that the first has ended', async () => {
    await use.store.write.releaseLease(use.term)
    const first = openCandidate('first')
    await first.leading(use.term + 1)
    const second = openCandidate('second')
    await until(() => second.election.status().term === use.term + 1)
    expect(second.election.status().role).toBe('STANDBY')
    await first.election.close()
    expect(first.ended).toEqual([use.term + 1])
    second.election.checkNow()
    await second.leading(use.term + 2)
    expect(second.election.status()).toEqual({ role: 'WRITER', term: use.term + 2 })
  })

  test('restarts failed work in the same term, and logs the failure once', async () => {
    await use.store.write.releaseLease(use.term)
    const failures = [new Error('first'), new Error('first'), new Error('second')]
    const one = openCandidate('one', () => {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
    })
    await one.leading(use.term + 1)
    expect(one.begun).toEqual([1, 2, 3, 4].map(() => use.term + 1))
    const errors = one.logged
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level === 'error')
    expect(errors.map(({ event, error }) => [event, error.message])).toEqual([
      ['writer-failed', 'first'],
      ['writer-failed', 'second'],
    ])
  })

  // No other process could lead on a SQLite file.
  test.runIf(name === 'postgresql')(
    'releases the lease to another process when the work fails repeatedly',
    async () => {
      await use.store.write.releaseLease(use.term)
      const unable = openCandidate('unable', () => {
        throw new Error('always')
      })
      await until(() => unable.begun.length > 0)
      const able = openCandidate('able')
      await able.leading(use.term + 2)
      expect(unable.begun).toEqual([1, 2, 3, 4, 5].map(() => use.term + 1))
      expect(unable.election.status().role).toBe('STANDBY')
      const events = unable.logged.map((line) => JSON.parse(line).event)
      expect(events).toContain('lease-given-back')
    },
  )

  test.runIf(name === 'postgresql')(
    'does not count failures of the work while the lease cannot be renewed',
    async () => {
      await use.store.write.releaseLease(use.term)
      let isFailing = true
      const one = openCandidate('one', () => {
        if (isFailing) throw new Error('always')
      })
      await until(() => one.begun.length > 0)
      await onDatabase(
        use.url,
        'ALTER TABLE writer ADD CONSTRAINT kept CHECK (until < 0) NOT VALID',
      )
      await until(() => !one.election.isSound(), { what: 'a failed renewal' })
      const { length } = one.begun
      await until(() => one.begun.length > length + 5, { what: 'failures of the work' })
      await onDatabase(use.url, 'ALTER TABLE writer DROP CONSTRAINT kept')
      await until(() => one.election.isSound(), { what: 'a renewal' })
      const { length: later } = one.begun
      await until(() => one.begun.length > later, { what: 'another failure' })
      isFailing = false
      await one.leading(use.term + 1)
      const events = one.logged.map((line) => JSON.parse(line).event)
      expect(events).not.toContain('lease-given-back')
    },
  )

  test('ends the work of a process that loses the lease, and lets it stand again', async () => {
    await use.store.write.releaseLease(use.term)
    const one = openCandidate('one')
    await one.leading(use.term + 1)
    // Another process has held the lease meanwhile, and has left it.
    await onDatabase(use.url, 'UPDATE writer SET term = term + 1, until = 9999999999999')
    await until(() => one.election.status().role === 'STANDBY')
    expect(one.ended).toEqual([use.term + 1])
    await onDatabase(use.url, 'UPDATE writer SET until = 0')
    await one.leading(use.term + 3)
  })

  test('takes a lease that ends far ahead, because the clock of the database was set back, once it is not renewed', async () => {
    await use.store.write.releaseLease(use.term)
    const one = openCandidate('one')
    await one.leading(use.term + 1)
    const standby = openCandidate('standby')
    const setBack = 'UPDATE writer SET until = until + 3600000'
    await onDatabase(use.url, setBack)
    // The next renewal shows that the holder runs.
    await until(async () => ((await use.store.read.lease())?.leftMs ?? 0) < 5_000)
    await until(() => standby.election.status().term === use.term + 1)
    expect(standby.election.status().role).toBe('STANDBY')
    await one.election.close()
    await standby.leading(use.term + 2)
    await standby.election.close()
    await use.store.write.takeLease({ holder: 'elsewhere:1:00000000', ttlMs: 3_000 })
    await onDatabase(use.url, setBack)
    const next = openCandidate('next')
    await next.leading(use.term + 4)
  })

  test('logs that the lease cannot be taken once, and when it can be read again', async () => {
    const newer = { name: '99990101000000_newer', id: 'newer' }
    await onDatabase(
      use.url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
         SELECT '${newer.id}', checksum, '${newer.name}', finished_at FROM _prisma_migrations LIMIT 1`,
    )
    try {
      await use.store.write.releaseLease(use.term)
      const standby = openCandidate('standby')
      await until(() => !standby.election.isSound(), { what: 'a failure' })
      const soon = Date.now() + 2_000
      const other = `UPDATE writer SET term = term + 1, holder = 'elsewhere', until = ${soon}`
      await onDatabase(use.url, other)
      await until(() => standby.election.isSound(), { what: 'a read of the lease' })
      expect(standby.election.status().role).toBe('STANDBY')
      const logged = standby.logged.map((line) => JSON.parse(line))
      expect(logged.map(({ event }) => event)).toEqual(['lease-unread', 'lease-read'])
      expect(logged[0].error.message).toContain(newer.name)
      expect(logged[1].lastedMs).toBeGreaterThan(0)
    } finally {
      await onDatabase(use.url, `DELETE FROM _prisma_migrations WHERE id = '${newer.id}'`)
    }
  })

  /** Opens the leader election of a process whose work waits for the end of its term. */
  function openCandidate(holder: string, begin: () => void = () => {}) {
    const begun: number[] = []
    const ended: number[] = []
    let isAtWork = 0
    const logged: string[] = []
    const write = (line: string) => void logged.push(line)
    async function lead({ term, ended: over }: LeaderTerm): Promise<LeaseLost | undefined> {
      begun.push(term)
      begin()
      isAtWork = term
      if (!over.aborted) await once(over, 'abort')
      ended.push(term)
      return undefined
    }
    const election = openLeaderElection({
      read: use.store.read,
      write: use.store.write,
      isShared: use.store.isShared,
      log: createLog({ clock: { nowNs: () => 0n }, write }, 'info'),
      holder,
      lead: lead,
    })
    open.add(election)
    const leading = (term: number) => until(() => isAtWork === term)
    return { election, begun, ended, logged, leading }
  }
})
