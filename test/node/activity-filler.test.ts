import { describe, expect, test } from 'vitest'
import { openFeed } from '../../src/feed/open.ts'
import { createWake } from '../../src/feed/wake.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { startActivityFiller } from '../../src/node/activity-filler.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { foundActivityLedger } from '../support/activity-model.ts'
import { databases, onDatabase, useStore } from '../support/databases.ts'
import { createMemoryLog } from '../support/memory-log.ts'
import { until } from '../support/until.ts'

const parameters = { ...developmentParameters(0), slotsPerEpochExponent: 3 }

describe.each(databases)('uncounted activity on $name', ({ create }) => {
  const use = useStore(create)

  test('is counted by the writing process, alongside commits, until all is counted', async () => {
    const ledger = await foundActivityLedger(use, 31, parameters)
    await ledger.commit(30)
    await onDatabase(use.url, 'DELETE FROM activity')
    const { read, write } = use.store
    const { log, lines } = createMemoryLog(systemClock)
    const wake = createWake()
    const feed = await openFeed({ reader: read, parameters, wake, log })
    let term: number | undefined
    const { tail } = feed
    const filler = startActivityFiller({ write, tail, log, term: () => term })
    const spans = async () => (await read.activity('EPOCH', 0, 99)).spans
    const commit = async () => {
      await ledger.commit(1)
      wake.notify((await read.logTip()).seq)
      await until(() => tail.tip().slot === ledger.committed())
    }

    await commit()
    expect((await spans()).map(({ slots }) => slots)).toEqual([1])
    term = use.term
    await commit()
    await until(() => lines.some((line) => line.includes('activity-filled')))
    await commit()
    const expected = ledger.buckets('EPOCH').map((bucket) => ledger.activity('EPOCH', bucket))
    expect(await spans()).toMatchObject(expected)
    expect(lines.filter((line) => line.includes('activity-'))).toHaveLength(1)
    await filler.close()
    await feed.close()
  })
})
