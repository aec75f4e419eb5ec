import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type ChainRecordFeed,
  chainRecordLogId,
  openChainRecordFeed,
} from '../../src/feed/chain-records.ts'
import { encodeCursor } from '../../src/feed/cursor.ts'
import { silentLog } from '../../src/lib/log.ts'
import {
  type ChainRecordChange,
  followChainRecords,
} from '../../src/service/chain-records/follow-chain-records.ts'
import { noBranch } from '../../src/store/values.ts'
import { databases, onDatabase, useStore } from '../support/databases.ts'
import { unwrap } from '../support/log-store.ts'
import { testGenesis } from '../support/store-rows.ts'
import { until } from '../support/until.ts'

describe.each(databases)(
  'changes of chain records on $name, after an older copy was restored,',
  ({ create }) => {
    const use = useStore(create)
    let chainRecords: ChainRecordFeed
    let setAt = 0
    beforeEach(async () => {
      unwrap(await use.store.write.initialize(use.term, testGenesis()))
      chainRecords = openChainRecordFeed({ reader: use.store.read, log: silentLog, tickMs: 5 })
    })
    afterEach(() => chainRecords.close())

    async function open(after: string, mayLag = true) {
      return await followChainRecords({ store: use.store, chainRecords, mayLag }, { after })
    }

    async function take(after: string, count: number): Promise<ChainRecordChange[]> {
      const changes: ChainRecordChange[] = []
      for await (const change of unwrap(await open(after))) {
        changes.push(change)
        if (changes.length === count) break
      }
      return changes
    }

    async function set(times: number): Promise<void> {
      for (let i = 0; i < times; i++) {
        setAt++
        const record = { chainId: 'chain', accessNodes: [], isActive: true, setBy: 'test', setAt }
        const { change } = await use.store.write.setChainRecord(record)
        chainRecords.notify(change)
      }
    }

    test('are followed from a common cursor, and other cursors are rejected (5, 22)', async () => {
      const logId = chainRecordLogId(testGenesis().network.logId)
      const start = encodeCursor({ logId, seq: 0, branch: noBranch })
      await set(3)
      const [first, second, third] = (await take(start, 3)).map(({ cursor }) => cursor)
      const live = unwrap(await open(third ?? ''))
      const waiting = live.next()
      await onDatabase(use.url, 'DELETE FROM chain_records WHERE change > 1')
      expect(await open(third ?? '')).toMatchObject({
        error: { code: 'CURSOR_AHEAD_OF_TIP', tip: 1 },
      })
      const refused = { ok: false, error: { code: 'CURSOR_OF_ANOTHER_LOG', argument: 'after' } }
      expect(await open(third ?? '', false)).toEqual(refused)
      await set(3)
      // The subscription ends, and a client that resumes with its cursor is rejected.
      expect(await waiting).toEqual({ done: true, value: undefined })
      expect(await open(second ?? '')).toEqual(refused)
      expect(await open(third ?? '')).toEqual(refused)
      const changes = await take(first ?? '', 3)
      expect(changes.map(({ record }) => [record.change, record.setAt])).toEqual([
        [2, setAt - 2],
        [3, setAt - 1],
        [4, setAt],
      ])
    })

    test('are not read again and again while the copy lacks changes that were already notified', async () => {
      let reads = 0
      const { chainRecordChanges } = use.store.read
      const reader = {
        ...use.store.read,
        chainRecordChanges: (page: Parameters<typeof chainRecordChanges>[0]) => {
          reads++
          return chainRecordChanges(page)
        },
      }
      chainRecords.close()
      chainRecords = openChainRecordFeed({ reader, log: silentLog })
      const logId = chainRecordLogId(testGenesis().network.logId)
      await set(3)
      const [first] = await take(encodeCursor({ logId, seq: 0, branch: noBranch }), 1)
      await onDatabase(use.url, 'DELETE FROM chain_records WHERE change > 1')
      const live = unwrap(await open(first?.cursor ?? ''))
      const waiting = live.next()
      await until(() => reads > 1)
      const before = reads
      await delay(200)
      expect(reads - before).toBeLessThan(3)
      await set(1)
      expect((await waiting).value?.record).toMatchObject({ change: 2, setAt })
      await live.return?.()
    })
  },
)
