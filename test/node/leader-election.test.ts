import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import {
  type LeaderElection,
  type LeaderTerm,
  openLeaderElection,
} from '../../src/node/leader-election.ts'
import type { LeaseLost } from '../../src/store/lease-contract.ts'
import { databases, onDatabase, useStore } from '../support/databases.ts'
import { until } from '../support/until.ts'

describe.each(databases)('standing for the lease on $name', ({ name, create }) => {
  const use = useStore(create)
  const open = new Set<LeaderElection>()

  afterEach(async () => {
    for (const standing of open) await standing.close()
    open.clear()
  })

  test('one does the work, and another as soon as it is told that the first has ended', async () => {
    await use.store.write.releaseLease(use.term)
    const first = stand('first')
    await first.reigning(use.term + 1)
    const second = stand('second')
    await until(() => second.standing.status().term === use.term + 1)
    expect(second.standing.status().role).toBe('STANDBY')
    await first.standing.close()
    expect(first.ended).toEqual([use.term + 1])
    second.standing.checkNow()
    await second.reigning(use.term + 2)
    expect(second.standing.status()).toEqual({ role: 'WRITER', term: use.term + 2 })
  })

  test('work that fails is begun again in the same term, and the failure is told once', async () => {
    await use.store.write.releaseLease(use.term)
    const failures = [new Error('first'), new Error('first'), new Error('second')]
    const one = stand('one', () => {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
    })
    await one.reigning(use.term + 1)
    expect(one.begun).toEqual([1, 2, 3, 4].map(() => use.term + 1))
    const told = one.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
    expect(told.map(({ event, error }) => [event, error.message])).toEqual([
      ['writer-failed', 'first'],
      ['writer-failed', 'second'],
    ])
  })

  // Of a file no other process could do the work.
  test.runIf(name === 'postgresql')(
    'one whose work fails again and again gives the lease back to another',
    async () => {
      await use.store.write.releaseLease(use.term)
      const unable = stand('unable', () => {
        throw new Error('always')
      })
      await until(() => unable.begun.length > 0)
      const able = stand('able')
      await able.reigning(use.term + 2)
      expect(unable.begun).toEqual([1, 2, 3, 4, 5].map(() => use.term + 1))
      expect(unable.standing.status().role).toBe('STANDBY')
      const events = unable.logged.map((line) => JSON.parse(line).event)
      expect(events).toContain('lease-given-back')
    },
  )

  test('whoever loses the lease ends, and stands again', async () => {
    await use.store.write.releaseLease(use.term)
    const one = stand('one')
    await one.reigning(use.term + 1)
    // By nothing of ours: another process has had the lease meanwhile, and left it.
    await onDatabase(use.url, 'UPDATE writer SET term = term + 1, until = 9999999999999')
    await until(() => one.standing.status().role === 'STANDBY')
    expect(one.ended).toEqual([use.term + 1])
    await onDatabase(use.url, 'UPDATE writer SET until = 0')
    await one.reigning(use.term + 3)
  })

  /** A process of a test, whose work is to wait for its end. */
  function stand(holder: string, begin: () => void = () => {}) {
    const begun: number[] = []
    const ended: number[] = []
    let isAtWork = 0
    const logged: string[] = []
    const write = (line: string) => void logged.push(line)
    async function reign({ term, ended: over }: LeaderTerm): Promise<LeaseLost | undefined> {
      begun.push(term)
      begin()
      isAtWork = term
      if (!over.aborted) await once(over, 'abort')
      ended.push(term)
      return undefined
    }
    const standing = openLeaderElection({
      read: use.store.read,
      write: use.store.write,
      isShared: use.store.isShared,
      log: createLog({ clock: { nowNs: () => 0n }, write }, 'info'),
      holder,
      lead: reign,
    })
    open.add(standing)
    const reigning = (term: number) => until(() => isAtWork === term)
    return { standing, begun, ended, logged, reigning }
  }
})
