import { silentLog } from '../../../src/lib/log.ts'
import { databaseOf } from '../../../src/store/connect.ts'
import type { Store } from '../../../src/store/contract.ts'
import { openStore } from '../../../src/store/open.ts'
import { createReader } from '../../../src/store/reader.ts'
import { startStandby } from '../../support/standby.ts'
import { testGenesis } from '../../support/store-rows.ts'
import { busyAddress, growLog } from '../large-log.ts'
import { median, printTable } from '../measure.ts'
import { bookSlot, createTransfers, unwrap } from '../transfers.ts'

/** What a gateway's reads find on a standby: how far behind it is, how long a page takes, and whether it is woken. */

type Reader = Store['read']

/** Measures a standby of this server, whose database has a log of so many rows then. */
export async function measureStandby(url: string, rows: number): Promise<void> {
  const standby = await startStandby(url)
  const store = unwrap(await openStore({ url, log: silentLog }))
  const there = Object.assign(new URL(standby.url), { pathname: new URL(url).pathname }).href
  const primary = unwrap(await databaseOf({ url, wakeUrl: undefined, log: silentLog }))
  const replica = unwrap(await databaseOf({ url: there, wakeUrl: url, log: silentLog }))
  const reader = createReader(replica)
  try {
    const { term } = unwrap(await store.write.takeLease({ holder: 'bench', ttlMs: 86_400_000 }))
    unwrap(await store.write.initialize(term, testGenesis()))
    await growLog(primary, { from: 2, to: rows, slot: 1 })
    const caughtUp = await lagOf(reader, rows)
    const lags: number[] = []
    const wakes: number[] = []
    const source = createTransfers(rows, 'many')
    for (let n = 0; n < slotsMeasured; n++) {
      const slot = await bookSlot({ store, term }, source)
      const heard = nextNews(replica.listen)
      await heard.ready
      await slot.commit()
      const { seq } = await store.read.logTip()
      const begun = performance.now()
      lags.push(await lagOf(reader, seq))
      wakes.push((await heard.news) - begun)
      await heard.close()
    }
    const { here, away } = await pagesInTurns(store.read, reader, rows)
    console.log('\npostgresql: a standby of the same machine')
    printTable([
      ['what', 'median', 'longest'],
      [`caught up with ${rows} rows at once`, milliseconds(caughtUp), ''],
      ['a slot of 3,000 rows is there after its commit', ...both(lags)],
      ['its reader is woken by the primary after it', ...both(wakes)],
      ['page of 100 of an address, primary', ...both(here)],
      ['page of 100 of an address, standby', ...both(away)],
    ])
  } finally {
    await replica.close()
    await primary.close()
    await store.close()
    await standby.stop()
  }
}

const slotsMeasured = 20
const pagesMeasured = 300

/** Milliseconds until the log reaches so far. */
async function lagOf(reader: Reader, seq: number): Promise<number> {
  const begun = performance.now()
  while ((await newestSeq(reader)) < seq);
  return performance.now() - begun
}

/** 0 while the tables are not there yet. */
async function newestSeq(reader: Reader): Promise<number> {
  try {
    return (await reader.logTip()).seq
  } catch {
    return 0
  }
}

/** The moment in which the next commit is heard of, once it is listened for. */
function nextNews(listen: Store['listen']) {
  let tell = (_atMs: number): void => {}
  let begin = (): void => {}
  const news = new Promise<number>((resolve) => {
    tell = resolve
  })
  const ready = new Promise<void>((resolve) => {
    begin = resolve
  })
  let times = 0
  // The first is how far the log reaches as the connection is made.
  const { close } = listen(() => (times++ === 0 ? begin() : tell(performance.now())))
  return { ready, news, close }
}

/** The same pages of both, which must be equal. */
async function pagesInTurns(primary: Reader, standby: Reader, rows: number) {
  const here: number[] = []
  const away: number[] = []
  for (let n = 0; n < pagesMeasured; n++) {
    const after = Math.floor(Math.random() * rows * 0.9)
    const range = { address: busyAddress, classes: ['OWNED'], after, limit: 100 } as const
    const place = { ...range, before: Number.MAX_SAFE_INTEGER, order: 'ascending' } as const
    const begun = performance.now()
    const page = await primary.updates(place)
    const between = performance.now()
    const copy = await standby.updates(place)
    away.push(performance.now() - between)
    here.push(between - begun)
    const chains = [page, copy].map((rows) => rows.map(({ historyHash }) => historyHash).join())
    if (chains[0] !== chains[1]) throw new Error('the standby has other rows')
  }
  return { here, away }
}

function both(times: readonly number[]): string[] {
  return [milliseconds(median(times)), milliseconds(Math.max(...times))]
}

function milliseconds(time: number): string {
  return `${time.toFixed(2)} ms`
}
