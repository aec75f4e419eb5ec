import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assert } from '../../../src/lib/assert.ts'
import type { Hex } from '../../../src/lib/hex.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { ok } from '../../../src/lib/result.ts'
import { tryLease } from '../../../src/node/lease.ts'
import { isTooOld, snapshotLines } from '../../../src/node/snapshot/read-snapshot.ts'
import { receiveSnapshot } from '../../../src/node/snapshot/receive-snapshot.ts'
import {
  firstCheck,
  parsePart,
  type SnapshotHead,
  snapshotLine,
  splitLine,
} from '../../../src/node/snapshot/snapshot-format.ts'
import { ProtocolParameters } from '../../../src/protocol/parameters.ts'
import { decodeStored } from '../../../src/protocol/stored.ts'
import type { IdPage } from '../../../src/store/contract/ledger-snapshot.ts'
import type { Store } from '../../../src/store/contract.ts'
import type { Database } from '../../../src/store/database.ts'
import { inSmallChunks } from '../../../src/store/in-chunks.ts'
import { openDatabase } from '../../../src/store/open.ts'
import { createSerialQueue } from '../../../src/store/serial-queue.ts'
import { createWriter } from '../../../src/store/write/writer.ts'
import { databases, openedStore, type TestDatabase } from '../../support/databases.ts'
import { unwrap } from '../../support/log-store.ts'
import { makeSnapshotLedger } from '../../support/snapshot-ledger.ts'
import { testParameters } from '../../support/store-rows.ts'

/** Tests how much of a snapshot is read, checked and written at once. This depends on its size, and not on the clock. */

const outputs = 2_400

const shown = 'SHOW idle_in_transaction_session_timeout'

describe.each(databases)('on $name', ({ name, create }) => {
  const created: TestDatabase[] = []
  let source: Store
  let head: SnapshotHead

  async function newStore(): Promise<Store> {
    const one = await create()
    created.push(one)
    return openedStore(one.url)
  }

  beforeAll(async () => {
    source = await newStore()
    const database = await openDatabase({ url: created[0]?.url ?? '', log: silentLog })
    assert(database.ok, 'the database is opened')
    head = await makeSnapshotLedger({ store: source, database: database.value }, outputs)
    await database.value.close()
  })
  afterAll(async () => {
    await source.close()
    for (const one of created) await one.remove()
  })

  async function* linesOfSource(read: Store['read'] = source.read): AsyncGenerator<string> {
    const { check, text } = snapshotLine(firstCheck, { section: 'head', head })
    yield text
    const parameters = decodeStored(ProtocolParameters, testParameters)
    const { slot } = head
    const range = { slot, section: 'outputs', after: '0x', check, seq: 1, parameters } as const
    for await (const line of snapshotLines(read, range)) yield line.trimEnd()
  }

  async function receive(store: Store, lines: AsyncIterable<string>) {
    const lease = unwrap(await tryLease({ write: store.write, log: silentLog, holder: 'test' }))
    const received = await receiveSnapshot({
      store,
      log: silentLog,
      lease,
      source: { lines: () => lines, isRemote: false },
      withProofs: true,
      stopping: undefined,
      confirm: async () => ok(head.logId),
    })
    await lease.release()
    return received
  }

  /** Returns the same store with a count of the outputs of each transaction. */
  function counting(store: Store) {
    const written: number[] = []
    const write: Store['write'] = {
      ...store.write,
      addToSnapshot: (term, part) => {
        written.push(part.outputs.length)
        return store.write.addToSnapshot(term, part)
      },
    }
    return { written, store: { ...store, write } }
  }

  test('a line has at most 100 outputs, and at most 50 blocks are read at once to prove them', async () => {
    const blockCounts: number[] = []
    const blocks: Store['read']['blocks'] = (ids) => {
      blockCounts.push(ids.length)
      return source.read.blocks(ids)
    }
    const counts: number[] = []
    for await (const line of linesOfSource({ ...source.read, blocks })) {
      const part = parsePart(splitLine(line)?.text ?? '')
      if (part?.section === 'outputs') counts.push(part.rows.length)
    }
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(outputs)
    expect(Math.max(...counts)).toBe(100)
    expect(Math.max(...blockCounts)).toBeLessThanOrEqual(50)
  })

  test('many lines are written in one transaction, and the received snapshot is complete', async () => {
    const { written, store } = counting(await newStore())
    expect(await receive(store, linesOfSource())).toEqual(ok(undefined))
    // The head, and everything after it.
    expect(written).toEqual([0, outputs])
    const [expected, received] = [
      await source.read.balanceRanges(),
      await store.read.balanceRanges(),
    ]
    expect(received.ranges).toEqual(expected.ranges)
    expect(received.ranges.reduce((sum, { addresses }) => sum + addresses, 0)).toBe(outputs / 4)
    expect(received.ranges.reduce((sum, { total }) => sum + total, 0n)).toBe(
      decodeStored(ProtocolParameters, testParameters).tokenSupply,
    )
    await store.close()
  })

  test('lines before a lost connection are written, and the remaining ones are added later', async () => {
    const { written, store } = counting(await newStore())
    async function* cut(): AsyncGenerator<string> {
      let count = 0
      for await (const line of linesOfSource()) {
        if (count++ === 8) throw new Error('cut')
        yield line
      }
    }
    expect(await receive(store, cut())).toMatchObject({ error: { code: 'SNAPSHOT_AWAY' } })
    expect(written).toEqual([0, 700])
    async function* rest(): AsyncGenerator<string> {
      let count = 0
      for await (const line of linesOfSource()) if (count++ >= 8) yield line
    }
    expect(await receive(store, rest())).toEqual(ok(undefined))
    expect(written).toEqual([0, 700, outputs - 700])
    await store.close()
  })

  test('the ids of the accepted blocks of a slot are returned in pages, each once', async () => {
    const pages: (readonly Hex[])[] = []
    for (let after: IdPage['last'] | undefined; ; ) {
      const page = await source.read.acceptedIn(head.slot, 'blocks', after)
      if (page === undefined) break
      pages.push(page.ids)
      after = page.last
    }
    expect(pages.map(({ length }) => length)).toEqual([250, outputs / 8 - 250])
    expect(new Set(pages.flat()).size).toBe(outputs / 8)
    expect(await source.read.acceptedIn(head.slot, 'transactions')).toBe(undefined)
  })

  test.runIf(name === 'postgresql')('a transaction with rows may idle for long', async () => {
    const store = await newStore()
    const opened = await openDatabase({ url: created.at(-1)?.url ?? '', log: silentLog })
    assert(opened.ok, 'the database is opened')
    const database = opened.value
    const allowed: unknown[] = []
    const allowIdling: Database['statements']['allowIdling'] = async (tx) => {
      await database.statements.allowIdling(tx)
      allowed.push(...(await tx.$queryRawUnsafe<object[]>(shown)))
    }
    const statements = { ...database.statements, allowIdling }
    const write = createWriter({ ...database, statements }, createSerialQueue())
    const { term } = unwrap(await write.takeLease({ holder: 'test', ttlMs: 60_000 }))
    const rows = { outputs: [], accounts: [], tips: [] }
    const parameters = decodeStored(ProtocolParameters, testParameters)
    const progress = { head: '', position: '' }
    unwrap(await write.addToSnapshot(term, { progress, slot: 1, parameters, ...rows }))
    expect(allowed).toEqual([{ idle_in_transaction_session_timeout: '2min' }])
    await database.close()
    await store.close()
  })

  test('a slot is too old if a page would scan too many later rows', async () => {
    const { seq, prunedSeq } = await source.read.logTip()
    const after = (slots: number) => isTooOld(source.read, { slot: head.slot - slots, seq })
    expect([await after(5_000), await after(5_001)]).toEqual([false, true])
    expect(await isTooOld(source.read, { slot: head.slot, seq: prunedSeq - 1 })).toBe(true)
  })
})

test('rows are written in pieces of at most 500', async () => {
  const pieces: number[] = []
  const rows = Array.from({ length: 1_201 }, (_, i) => i)
  await inSmallChunks(rows, async (some) => pieces.push(some.length))
  expect(pieces).toEqual([500, 500, 201])
})
