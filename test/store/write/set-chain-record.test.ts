import { describe, expect, test } from 'vitest'
import { databases, openedStore, useStore } from '../../support/databases.ts'

const newest = { order: 'descending' } as const

const record = (chainId: string, setAt: number, changes: object = {}) => ({
  chainId,
  accessNodes: [`https://${setAt}.example`],
  isActive: true,
  setBy: 'somebody',
  setAt,
  ...changes,
})

describe.each(databases)('chain records on $name', ({ create }) => {
  const use = useStore(create)

  test('keep each setting as a version, and the newest version is the record', async () => {
    const { read, write } = use.store
    const first = record('chain1', 1, { accessNodes: [] })
    const second = record('chain1', 2, { isActive: false, accessNodes: ['"\\\u2028é🜁', ''] })
    expect(await write.setChainRecord(first)).toEqual({ ...first, version: 1, change: 1 })
    expect(await write.setChainRecord(second)).toEqual({ ...second, version: 2, change: 2 })
    expect(await read.chainRecord('chain1')).toEqual({ ...second, version: 2, change: 2 })
    const history = [
      { ...second, version: 2, change: 2 },
      { ...first, version: 1, change: 1 },
    ]
    const versions = (below: number, limit: number) =>
      read.chainRecordHistory('chain1', { above: [0], below: [below] }, { ...newest, limit })
    expect(await versions(3, 5)).toEqual(history)
    expect(await versions(3, 1)).toEqual(history.slice(0, 1))
    expect(await versions(2, 5)).toEqual(history.slice(1))
  })

  test('are listed by chain, the newest version of each', async () => {
    const { read, write } = use.store
    for (const [i, chainId] of ['c', 'a', 'b', 'a', 'c'].entries()) {
      await write.setChainRecord(record(chainId, i))
    }
    const whole = { above: [''], below: ['d'] }
    const ascending = (limit: number) => ({ order: 'ascending', limit }) as const
    const all = await read.chainRecords(whole, ascending(10))
    expect(all.map(({ chainId, version }) => [chainId, version])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 2],
    ])
    expect(await read.chainRecords(whole, ascending(2))).toEqual(all.slice(0, 2))
    expect(await read.chainRecords({ ...whole, above: ['a'] }, ascending(2))).toEqual(all.slice(1))
    expect(await read.chainRecords({ ...whole, above: ['bb'] }, ascending(2))).toEqual(all.slice(2))
    const last = { order: 'descending', limit: 2 } as const
    expect(await read.chainRecords({ ...whole, below: ['c'] }, last)).toEqual(
      all.slice(0, 2).reverse(),
    )
  })

  test('are listed by the bytes of their chain ids, whatever the locale of the database', async () => {
    const { read, write } = use.store
    const sorted = ['a-b1', 'a1', 'aa', 'ab', 'a~1', 'b1', 'é1']
    for (const chainId of sorted.toReversed()) await write.setChainRecord(record(chainId, 1))
    const whole = { above: [''], below: ['\uffff'] }
    const page = { order: 'ascending', limit: 10 } as const
    const all = await read.chainRecords(whole, page)
    expect(all.map(({ chainId }) => chainId)).toEqual(sorted)
    expect(await read.chainRecords({ ...whole, above: ['ab'] }, page)).toEqual(all.slice(4))
  })

  test('are listed as changes in the order of the settings, over all chains', async () => {
    const { read, write } = use.store
    expect(await read.latestChainRecordChange()).toBe(0)
    for (const [i, chainId] of ['c', 'a', 'c'].entries()) {
      await write.setChainRecord(record(chainId, i))
    }
    const all = await read.chainRecordChanges({ after: 0, limit: 10 })
    expect(all.map(({ change, chainId, version }) => [change, chainId, version])).toEqual([
      [1, 'c', 1],
      [2, 'a', 1],
      [3, 'c', 2],
    ])
    expect(await read.chainRecordChanges({ after: 1, limit: 1 })).toEqual(all.slice(1, 2))
    expect(await read.chainRecordChanges({ after: 3, limit: 1 })).toEqual([])
    expect(await read.latestChainRecordChange()).toBe(3)
  })

  test('are replaced only if the newest version is the expected one', async () => {
    const { read, write } = use.store
    const differs = (version: number) => ({
      ok: false,
      error: { code: 'CHAIN_RECORD_DIFFERS', version },
    })
    expect(await write.replaceChainRecord(record('chain1', 1), 1)).toEqual(differs(0))
    await write.setChainRecord(record('chain1', 1))
    const replaced = await write.replaceChainRecord(record('chain1', 2), 1)
    expect(replaced).toMatchObject({ ok: true, value: { version: 2, setAt: 2 } })
    expect(await write.replaceChainRecord(record('chain1', 3), 1)).toEqual(differs(2))
    expect(await write.replaceChainRecord(record('chain1', 3), 3)).toEqual(differs(2))
    expect(await read.chainRecord('chain1')).toMatchObject({ version: 2, setAt: 2 })
    const once = [4, 5, 6].map((n) => write.replaceChainRecord(record('chain1', n), 2))
    expect((await Promise.all(once)).filter(({ ok }) => ok)).toHaveLength(1)
  })

  test('are created only once if no version is expected', async () => {
    const { store, url } = use
    const second = await openedStore(url)
    const create = [1, 2, 3, 4].map((n) =>
      (n % 2 === 0 ? store : second).write.replaceChainRecord(record('chain1', n), 0),
    )
    const created = await Promise.all(create)
    expect(created.filter(({ ok }) => ok)).toMatchObject([{ value: { version: 1 } }])
    const differs = { ok: false, error: { code: 'CHAIN_RECORD_DIFFERS', version: 1 } }
    expect(created.filter(({ ok }) => !ok)).toEqual([differs, differs, differs])
    await second.close()
  })

  test('set at the same time are all kept', async () => {
    const { read, write } = use.store
    await Promise.all([1, 2, 3, 4, 5].map((n) => write.setChainRecord(record('chain1', n))))
    const whole = { above: [0], below: [10] }
    const history = await read.chainRecordHistory('chain1', whole, { ...newest, limit: 10 })
    expect(history.map(({ version, setAt }) => [version, setAt])).toEqual(
      [5, 4, 3, 2, 1].map((n) => [n, n]),
    )
  })

  test('set by another process continue the count', async () => {
    await use.store.write.setChainRecord(record('chain1', 1))
    const second = await openedStore(use.url)
    expect(await second.write.setChainRecord(record('chain1', 2))).toMatchObject({ version: 2 })
    expect(await use.store.read.chainRecord('chain1')).toMatchObject({ version: 2, setAt: 2 })
    const both = await Promise.all(
      [3, 4, 5, 6].map((n) =>
        (n % 2 === 0 ? use.store : second).write.setChainRecord(record(`chain${n}`, n)),
      ),
    )
    expect(both.map(({ change }) => change).toSorted()).toEqual([3, 4, 5, 6])
    await second.close()
  })
})
