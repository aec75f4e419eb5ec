import { describe, expect, test } from 'vitest'
import {
  firstSlotOfBucket,
  type Resolution,
  resolutions,
} from '../../../src/ledger/activity-buckets.ts'
import { compareLogEntries } from '../../../src/ledger/updates.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { developmentParameters } from '../../../src/node/embedded/development-parameters.ts'
import type { Store } from '../../../src/store/contract.ts'
import { exportDatabase } from '../../../src/store/move/export.ts'
import { importDatabase } from '../../../src/store/move/import.ts'
import { openDatabase } from '../../../src/store/open.ts'
import { type ActivityLedger, foundActivityLedger } from '../../support/activity-model.ts'
import {
  type DatabaseKind,
  databases,
  onDatabase,
  openedStore,
  takenLease,
  useStore,
} from '../../support/databases.ts'
import { unwrap } from '../../support/log-store.ts'
import { createRandom } from '../../support/random.ts'
import {
  createdOutput,
  entry,
  outputIdOf,
  slotCommit,
  testGenesis,
  transactionIdOf,
} from '../../support/store-rows.ts'

/**
 * In the first network slots share minutes; in the second some minutes have no slot. Both begin in the middle of a minute, before the end
 * of an hour.
 */
const networks = [
  { slotDurationInSeconds: 10, genesisSlot: 0 },
  { slotDurationInSeconds: 200, genesisSlot: 5 },
].map((changes) => ({
  ...developmentParameters(0),
  genesisUnixTimestamp: 1_700_006_335n - 3_600n,
  slotsPerEpochExponent: 3,
  ...changes,
}))

const [shortSlots, longSlots] = networks as [(typeof networks)[0], (typeof networks)[0]]

describe.each(databases)('activity on $name', ({ name, create }) => {
  const use = useStore(create)

  test.each([
    [1, shortSlots, 60],
    [2, longSlots, 60],
  ] as const)('equals the sums of each span (seed %i)', async (seed, parameters, slots) => {
    const ledger = await foundActivityLedger(use, seed, parameters)
    await compare(use.store, ledger)
    const random = createRandom(seed)
    while (ledger.committed() < slots) await ledger.commit(random.between(1, slots / 5))
    await compare(use.store, ledger)
    expect(ledger.buckets('DAY').length).toBe(parameters === longSlots ? 2 : 1)
    expect(ledger.buckets('HOUR').length).toBeGreaterThan(1)
  })

  test('continues after a restart, and pruning does not change it', async () => {
    const ledger = await foundActivityLedger(use, 3, shortSlots)
    await ledger.commit(20)
    await use.store.write.pruneLog({ milestones: 2, rows: 10_000 })
    const again = await openedStore(use.url)
    try {
      await compare(again, ledger)
      await ledger.commit(3)
      await compare(again, ledger)
    } finally {
      await again.close()
    }
  })

  test('is recounted from the log, in pieces, while slots are committed', async () => {
    const ledger = await foundActivityLedger(use, 4, shortSlots)
    await ledger.commit(40)
    await onDatabase(use.url, 'UPDATE activity SET addresses = 77, "movedLow" = 5')
    unwrap(await use.store.write.forgetActivity(use.term))
    expect((await whole(use.store, 'SLOT')).spans).toEqual([])
    let pieces = 0
    for (let isDone = false; !isDone; pieces++) {
      isDone = unwrap(await use.store.write.fillActivity(use.term, { rows: 20 })).isDone
      if (pieces < 3) await ledger.commit(1)
    }
    expect(pieces).toBeGreaterThan(3)
    await compare(use.store, ledger)
    const none = { slots: 0, rows: 0, isDone: true }
    expect(unwrap(await use.store.write.fillActivity(use.term, { rows: 20 }))).toEqual(none)
  })

  test('keeps spans that begin before the retained log', async () => {
    const ledger = await foundActivityLedger(use, 5, shortSlots)
    await ledger.commit(40)
    await use.store.write.pruneLog({ milestones: 13, rows: 10_000 })
    const before = await Promise.all(resolutions.map((one) => whole(use.store, one)))
    unwrap(await use.store.write.forgetActivity(use.term))
    const forgotten = await whole(use.store, 'MINUTE')
    expect(forgotten.spans.length).toBeGreaterThan(2)
    expect(forgotten.spans.length).toBeLessThan(ledger.buckets('MINUTE').length)
    unwrap(await use.store.write.fillActivity(use.term, { rows: 10_000 }))
    expect(await Promise.all(resolutions.map((one) => whole(use.store, one)))).toEqual(before)
    await compare(use.store, ledger)
  })

  test('leaves undefined what an upstream node does not report', async () => {
    const { write, read } = use.store
    await write.initialize(use.term, testGenesis({ epoch: undefined }))
    const spent = { outputId: outputIdOf(0), spentSlot: 1, spentBy: transactionIdOf(9) }
    const rows = [entry(0, 0, { isSpent: true }), entry(1, 1)].sort(compareLogEntries)
    const one = { commit: slotCommit(1, rows), created: [createdOutput(1)], spent: [spent] }
    const two = slotCommit(2, [entry(1, 1, { isSpent: true })])
    const unknown = { outputId: outputIdOf(1), spentSlot: 2, spentBy: undefined }
    unwrap(await write.followSlots(use.term, [one]))
    unwrap(await write.followSlots(use.term, [{ commit: two, created: [], spent: [unknown] }]))
    const nothing = {
      blocks: undefined,
      blockBytes: undefined,
      failed: undefined,
      burned: undefined,
    }
    const { spans } = await whole(use.store, 'SLOT')
    expect(spans).toMatchObject([
      { ...nothing, accepted: 0, moved: 0n, addresses: 1 },
      { ...nothing, accepted: 1, moved: 1_001n, addresses: 2, newAddresses: 1 },
      { ...nothing, accepted: 0, moved: undefined, addresses: 1, newAddresses: 0 },
    ])
    expect((await whole(use.store, 'DAY')).spans).toMatchObject([
      { ...nothing, slots: 3, accepted: 1, moved: undefined, addresses: 2, newAddresses: 2 },
    ])
    const { recent } = await read.ledgerCounters(9)
    expect(recent).toEqual({ slots: 3, blocks: undefined, accepted: 1 })
  })

  test('is not counted after the lease is lost', async () => {
    await foundActivityLedger(use, 6, shortSlots)
    const lost = { ok: false, error: { code: 'LEASE_LOST', term: use.term - 1 } }
    expect(await use.store.write.fillActivity(use.term - 1, { rows: 1 })).toEqual(lost)
    expect(await use.store.write.forgetActivity(use.term - 1)).toEqual(lost)
  })

  test('has exact amounts beyond 64 bits', async () => {
    const ledger = await foundActivityLedger(use, 7, shortSlots)
    await ledger.commit(2)
    const [day] = (await whole(use.store, 'DAY')).spans
    const more = 2 ** 52
    await onDatabase(use.url, `UPDATE activity SET "movedHigh" = "movedHigh" + ${more}`)
    const [raised] = (await whole(use.store, 'DAY')).spans
    expect(raised?.moved).toBe((day?.moved ?? 0n) + BigInt(more) * 10n ** 12n)
  })

  test.each(databases)('moves to $name and continues there', async (other: DatabaseKind) => {
    const ledger = await foundActivityLedger(use, 8, shortSlots)
    await ledger.commit(15)
    const target = await other.create()
    try {
      await moved(use.url, target.url)
      const store = await openedStore(target.url)
      await compare(store, ledger)
      await store.close()
    } finally {
      await target.remove()
    }
    expect(name).toBeDefined()
  })
})

function whole({ read }: Store, resolution: Resolution) {
  return read.activity(resolution, 0, Number.MAX_SAFE_INTEGER)
}

/** Compares all stored spans and counters with a scan of all slots. */
async function compare(store: Store, ledger: ActivityLedger): Promise<void> {
  for (const resolution of resolutions) {
    const { slot, spans } = await whole(store, resolution)
    expect(slot).toBe(ledger.committed())
    const expected = ledger.buckets(resolution).map((bucket) => ({
      resolution,
      bucket,
      ...ledger.activity(resolution, bucket),
    }))
    expect(spans).toEqual(expected)
  }
  const counters = await store.read.ledgerCounters(6)
  const unspent = ledger.unspent()
  const recent = Array.from({ length: 6 }, (_, i) => ledger.committed() - i)
    .map((slot) => ledger.activity('SLOT', slot))
    .filter((one) => one !== undefined)
  expect(counters).toMatchObject({
    slot: ledger.committed(),
    outputs: unspent.length,
    accounts: unspent.filter(({ output }) => output.type === 1).length,
    recent: {
      slots: recent.length,
      blocks: recent.reduce((sum, { blocks }) => sum + (blocks ?? 0), 0),
      accepted: recent.reduce((sum, { accepted }) => sum + accepted, 0),
    },
  })
}

async function openedDatabase(url: string) {
  const opened = await openDatabase({ url, log: silentLog })
  if (!opened.ok) throw new Error(opened.error.code)
  return opened.value
}

async function moved(from: string, to: string): Promise<void> {
  const [out, into] = [await openedDatabase(from), await openedDatabase(to)]
  const lines: string[] = []
  const signal = new AbortController().signal
  const onProgress = () => {}
  unwrap(
    await exportDatabase(out, {
      write: async (line) => void lines.push(line.trimEnd()),
      signal,
      onProgress,
    }),
  )
  await out.close()
  const store = await openedStore(to)
  const term = await takenLease(store)
  async function* given() {
    yield* lines
  }
  unwrap(await importDatabase(into, { lines: given(), term, signal, logId: 'KEPT', onProgress }))
  await store.write.releaseLease(term)
  await store.close()
  await into.close()
}

test('a span begins with the first slot that begins in it', () => {
  for (const parameters of networks) {
    const { genesisSlot } = parameters
    const hour = Math.floor(Number(parameters.genesisUnixTimestamp) / 3_600)
    expect(firstSlotOfBucket(parameters, 'HOUR', hour)).toBe(genesisSlot)
    const begins = (slot: number) =>
      Number(parameters.genesisUnixTimestamp) +
      (slot - genesisSlot - 1) * parameters.slotDurationInSeconds
    const first = firstSlotOfBucket(parameters, 'HOUR', hour + 1)
    expect(begins(first)).toBeGreaterThanOrEqual((hour + 1) * 3_600)
    expect(begins(first - 1)).toBeLessThan((hour + 1) * 3_600)
  }
})
