import { describe, expect, test } from 'vitest'
import {
  createExpirationTransfers,
  type ExpirationTransfer,
} from '../../src/feed/expiration-transfers.ts'
import type { Sink } from '../../src/feed/feed-output.ts'
import { type Feed, openFeed } from '../../src/feed/open.ts'
import { createWake } from '../../src/feed/wake.ts'
import { conditionOf } from '../../src/ledger/output-parts.ts'
import type { Hex } from '../../src/lib/hex.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createSignal } from '../../src/lib/signal.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import { Output } from '../../src/protocol/outputs.ts'
import { encode, parse } from '../../src/protocol/schema/schema.ts'
import { AddressUnlock, Expiration } from '../../src/protocol/unlock-conditions.ts'
import type { StoreReader } from '../../src/store/contract.ts'
import { noBranch } from '../../src/store/values.ts'
import { defaultDatabase, useStore } from '../support/databases.ts'
import { neverMs } from '../support/feed-log.ts'
import { unwrap } from '../support/log-store.ts'
import {
  foundRandomLedger,
  minCommittableAge,
  type RandomLedger,
} from '../support/random-ledger.ts'
import { blockIdOf, outputIdOf, slotCommit, testGenesis } from '../support/store-rows.ts'
import { until } from '../support/until.ts'

describe('outputs that an expiration passes to another owner', () => {
  const use = useStore(defaultDatabase().create)

  const readers = [
    ['', (read: StoreReader) => read],
    [', also when every third read fails', failingEveryThird],
  ] as const
  test.each(readers)(
    'are reported in their milestone, each once, and no others%s (19)',
    async (_name, readerOf) => {
      let total = 0
      const ledger = await foundRandomLedger(use, 11)
      const transfers = createExpirationTransfers({
        reader: readerOf(use.store.read),
        minCommittableAge,
      })
      let tip = await use.store.read.logTip()
      // The first call reads the expirations to come.
      await retried(() => transfers.between(tip, tip, []))
      for (let i = 0; i < 60; i++) {
        await ledger.book()
        await ledger.commit()
        const next = await use.store.read.logTip()
        const rows = await use.store.read.updates({
          classes: ['OWNED', 'MENTIONED'],
          after: tip.seq,
          before: next.seq + 1,
          limit: 10_000,
          order: 'ascending',
        })
        const reported = await retried(() => transfers.between(tip, next, rows))
        expect(reported.toSorted(byId)).toEqual(expected(ledger, tip.slot, next.slot))
        total += reported.length
        tip = next
      }
      expect(total).toBeGreaterThan(3)
    },
  )

  const rings = [
    ['', {}],
    [', also when milestones have more rows than are held in memory', { ringRows: 1 }],
  ] as const
  test.each(rings)(
    'are sent to the feeds of both owners and of the whole ledger, and to no others%s (19)',
    async (_name, settings) => {
      const ledger = await foundRandomLedger(use, 11)
      const wake = createWake()
      const feed = await openFeed(
        { reader: use.store.read, parameters: { minCommittableAge }, wake, log: silentLog },
        { tickMs: neverMs, progressMs: neverMs, ...settings },
      )
      /** Transfers of outputs that one commit created and passed on, in rows that are not held. */
      const missed = new Set<string>()
      const commit = async () => {
        const former = ledger.committed()
        await ledger.book()
        await ledger.commit()
        for (const { outputId } of expected(ledger, former, ledger.committed())) {
          const created = ledger.outputs.find((output) => output.outputId === outputId)
          if ('ringRows' in settings && (created?.bookedSlot ?? 0) > former) missed.add(outputId)
        }
        wake.notify((await use.store.read.logTip()).seq)
        await until(() => feed.tail.tip().slot === ledger.committed())
      }
      // The first call reads the expirations to come.
      await commit()
      const start = ledger.committed()
      const owners = ledger.outputs.flatMap(({ output }) => {
        const expiration = conditionOf(output, Expiration)
        return expiration === undefined ? [] : [addressKey(expiration.returnAddress)]
      })
      const filters = [...new Set(owners)].slice(0, 5).map((address) => [address])
      const followers = [...filters, undefined].map((some) => openFollower(feed, some))
      for (let i = 0; i < 60; i++) await commit()
      const all = expected(ledger, start, ledger.committed())
      const isCertain = ({ outputId }: ExpirationTransfer) => !missed.has(outputId)
      for (const { addresses, reported } of followers) {
        const own = all.filter(
          ({ from, to }) =>
            addresses === undefined || addresses.some((a) => a === from || a === to),
        )
        const certain = own.filter(isCertain)
        await until(() => reported.filter(isCertain).length >= certain.length)
        expect(reported.filter(isCertain).toSorted(byId)).toEqual(certain)
      }
      expect(all.length).toBeGreaterThan(3)
      await feed.close()
    },
  )

  test('do not block the process if there are thousands of them in one milestone and many feeds', async () => {
    const { store, term } = use
    const [count, lastSlot] = [10_000, 60]
    const addressOf = (n: number) => `0x00${n.toString(16).padStart(64, '0')}` as const
    const outputs = Array.from({ length: count }, (_, n) => ({
      outputId: outputIdOf(n),
      bytes: encode(Output, expiringOutput(addressOf(n), lastSlot + minCommittableAge)),
      blockId: blockIdOf(0),
      bookedSlot: 0,
    }))
    unwrap(await store.write.initialize(term, testGenesis({ outputs, commit: slotCommit(0, []) })))
    const wake = createWake()
    const feed = await openFeed(
      { reader: store.read, parameters: { minCommittableAge }, wake, log: silentLog },
      { tickMs: neverMs, progressMs: neverMs },
    )
    const others = Array.from({ length: 300 }, (_, feed) =>
      Array.from({ length: 100 }, (_, n) => addressOf(count + feed * 100 + n)),
    )
    for (const addresses of others) openFollower(feed, addresses)
    const { reported } = openFollower(feed, [addressOf(1)])
    let hasRoom = false
    const room = createSignal()
    const stalled = openFollower(feed, undefined, {
      hasRoom: () => hasRoom,
      room: async () => void (await room.wait()),
    })
    let usedUs = 0
    for (const slots of [[1], Array.from({ length: lastSlot - 1 }, (_, i) => i + 2)]) {
      const last = slots.at(-1) ?? 0
      unwrap(await store.write.closeSlots(term, last))
      unwrap(
        await store.write.commitSlots(
          term,
          slots.map((slot) => slotCommit(slot, [])),
        ),
      )
      const before = process.threadCpuUsage()
      wake.notify(0)
      await until(() => feed.tail.tip().slot === last)
      const { user, system } = process.threadCpuUsage(before)
      usedUs += user + system
    }
    await until(() => reported.length === 1)
    // Comparing all outputs with each other and with all addresses takes twelve seconds of this thread. The delay of the event loop
    // would be that of other programs, too.
    expect(usedUs / 1_000).toBeLessThan(4_000)
    // A feed that cannot be sent gets none of them until it has room (7).
    expect(stalled.reported).toEqual([])
    hasRoom = true
    room.notify()
    await until(() => stalled.reported.length === count)
    await feed.close()
  })
})

/** A database that becomes unavailable before every third response. */
function failingEveryThird(read: StoreReader): StoreReader {
  let count = 0
  const outputs: StoreReader['outputs'] = (ids) =>
    count++ % 3 === 0 ? Promise.reject(new Error('away')) : read.outputs(ids)
  return { ...read, outputs }
}

/** Retries as the tail does: with the next tick it continues from its last position. */
async function retried<T>(read: () => Promise<T>): Promise<T> {
  const outcome = await until(() =>
    read().then(
      (value) => ({ value }),
      () => undefined,
    ),
  )
  return outcome.value
}

function openFollower(
  { hub }: Feed,
  addresses: readonly Hex[] | undefined,
  changes: Partial<Sink> = {},
) {
  const reported: ExpirationTransfer[] = []
  hub.open({
    key: String(addresses),
    filter: { ...(addresses && { addresses }), classes: ['OWNED'] },
    render: async () => ({ text: '', cursor: undefined }),
    position: { seq: 0, branch: noBranch },
    era: 0,
    snapshot: undefined,
    sink: {
      hasRoom: () => true,
      take: (_text, message) => {
        if (message.kind !== 'notice' || message.notice.topic !== 'OUTPUT_HANDED_OVER') return
        const { topic: _, ...transfer } = message.notice
        reported.push(transfer)
      },
      room: async () => {},
      end: () => {},
      ...changes,
    },
  })
  return { addresses, reported }
}

function expected({ outputs }: RandomLedger, after: number, upTo: number): ExpirationTransfer[] {
  return outputs
    .flatMap(({ outputId, output, bookedSlot, spentSlot }): ExpirationTransfer[] => {
      const expiration = conditionOf(output, Expiration)
      const owner = conditionOf(output, AddressUnlock)
      if (expiration === undefined || owner === undefined) return []
      const slot = expiration.slot - minCommittableAge
      const [from, to] = [addressKey(owner.address), addressKey(expiration.returnAddress)]
      const isDue = slot > after && slot <= upTo && slot > bookedSlot
      const isUnspent = spentSlot === undefined || spentSlot > slot
      return isDue && isUnspent && from !== to ? [{ outputId, from, to, slot }] : []
    })
    .sort(byId)
}

function expiringOutput(owner: Hex, slot: number): Output {
  const address = (pubKeyHash: Hex) => ({ type: 0, pubKeyHash })
  const unlockConditions = [
    { type: 0, address: address(`0x${owner.slice(4)}`) },
    { type: 3, returnAddress: address(`0x${'ff'.repeat(32)}`), slot },
  ]
  const json = { type: 0, amount: '1000000', mana: '0', unlockConditions, features: [] }
  return unwrap(parse(Output, json))
}

function byId(a: ExpirationTransfer, b: ExpirationTransfer): number {
  return a.outputId < b.outputId ? -1 : 1
}
