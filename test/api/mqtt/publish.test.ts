import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { createSignal } from '../../../src/lib/signal.ts'
import { Block, ValidationBlockBody } from '../../../src/protocol/block.ts'
import { is } from '../../../src/protocol/is.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import { notifyBlockChanges } from '../../../src/store/block-changes.ts'
import { arbitraryOf } from '../../support/arbitrary.ts'
import { onDatabase } from '../../support/databases.ts'
import { neverMs, slotOf } from '../../support/feed-log.ts'
import { leastOf } from '../../support/least-of.ts'
import { addresses } from '../../support/log-store.ts'
import { event, type Listener, openListener } from '../../support/mqtt.ts'
import { type ServedLog, serveLog } from '../../support/serve-log.ts'
import { blockIdOf, incomingBlock } from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'

/** Blocks and their states are published when they are written, not at a tick. */

const [owner = '0x'] = addresses
let served: ServedLog
let listener: Listener
beforeAll(async () => {
  served = await serveLog({ settings: { tickMs: neverMs } })
  listener = await openListener(served.url)
})
afterAll(async () => {
  await listener.close()
  await served.close()
})

test('a block that is accepted and booked is published without a tick', async () => {
  const { write } = notifyBlockChanges(served.log.store, served.feed.blocks.notify)
  await served.commit(slotOf(owner))
  await listener.listen('blocks/raw')
  await listener.listen('block-metadata/accepted')
  const votes = arbitraryOf(Block).filter(({ body }) => is(ValidationBlockBody, body))
  const bytes = encode(Block, present(fc.sample(votes, 1)[0], 'a block'))
  // Events begin with the first read after the subscription, so the first blocks may be older than that.
  let published: Buffer | undefined
  void listener.next('blocks/raw').then((payload) => {
    published = payload
  })
  let n = 1
  await until(async () => {
    n++
    await write.acceptBlocks([incomingBlock(n, { slot: 3, bytes, transactionId: undefined })])
    return published
  })
  expect(published).toEqual(Buffer.from(bytes))
  const blocks = [{ blockId: blockIdOf(n), state: 'ACCEPTED' as const }]
  await write.book(1, { blocks, transactions: [], created: [], spent: [] })
  expect(JSON.parse((await listener.next('block-metadata/accepted')).toString())).toEqual({
    blockId: blockIdOf(n),
    blockState: 'accepted',
  })
})

test('more blocks than one read returns are published without further notifications', async () => {
  const { write } = served.log.store
  const votes = arbitraryOf(Block).filter(({ body }) => is(ValidationBlockBody, body))
  const bytes = encode(Block, present(fc.sample(votes, 1)[0], 'a block'))
  let published = 0
  listener.client.on('message', (topic) => {
    if (topic === 'blocks/validation') published++
  })
  await listener.listen('blocks/validation')
  // Blocks are stored until the first of them is published, which is after the subscription. Each time there is one notification.
  let n = 10_000
  const store = async (count: number) => {
    const first = n
    n += count
    const blocks = Array.from({ length: count }, (_, i) =>
      incomingBlock(first + i, { slot: 3, bytes, transactionId: undefined }),
    )
    await write.acceptBlocks(blocks)
    served.feed.blocks.notify()
  }
  await until(async () => {
    await store(1)
    return published > 0
  })
  const before = published
  await store(2_500)
  await until(() => published >= before + 2_500)
})

test('a thousand blocks that are found at once are published in turns with other work', async () => {
  const own = await serveLog({ settings: { tickMs: neverMs } })
  const following = await openListener(own.url)
  await following.listen('blocks')
  const samples = fc.sample(arbitraryOf(Block), { numRuns: 100, seed: 5 })
  const encoded = samples
    .map((block) => encode(Block, block))
    .filter(({ length }) => length < 3_000)
  const bytes = present(encoded.toSorted((a, b) => b.length - a.length)[0], 'a long block')
  let n = 20_000
  const store = async (count: number) => {
    const first = n
    n += count
    const blocks = Array.from({ length: count }, (_, i) =>
      incomingBlock(first + i, { slot: 3, bytes, transactionId: undefined }),
    )
    await own.log.store.write.acceptBlocks(blocks)
  }
  let published = 0
  following.client.on('message', () => void published++)
  await until(async () => {
    await store(1)
    own.feed.blocks.notify()
    return published > 0
  })
  // The work of the longest phase of the event loop, of that of the whole publication.
  const longestShare = async () => {
    await store(1_000)
    const { user: before } = process.threadCpuUsage()
    let [longest, last] = [0, before]
    let isOver = false
    const look = () => {
      const { user } = process.threadCpuUsage()
      longest = Math.max(longest, user - last)
      last = user
      if (!isOver) setImmediate(look)
    }
    const known = published
    look()
    own.feed.blocks.notify()
    await until(() => published >= known + 1_000)
    isOver = true
    return longest / (last - before)
  }
  expect(await leastOf(longestShare, 0.2)).toBeLessThan(0.2)
  await following.close()
  await own.close()
})

test('blocks are published also after an older copy of the database has replaced it', async () => {
  const copy = await serveLog({ settings: { tickMs: 5 } })
  const { write } = notifyBlockChanges(copy.log.store, copy.feed.blocks.notify)
  const votes = arbitraryOf(Block).filter(({ body }) => is(ValidationBlockBody, body))
  const bytes = encode(Block, present(fc.sample(votes, 1)[0], 'a block'))
  let n = 0
  const store = async (count: number) => {
    const blocks = Array.from({ length: count }, () =>
      incomingBlock(++n, { slot: 9, bytes, transactionId: undefined }),
    )
    await write.acceptBlocks(blocks)
  }
  const own = await openListener(copy.url)
  let published = 0
  own.client.on('message', () => published++)
  await copy.commit([], [])
  await own.listen('blocks')
  // Events begin with the first read after the subscription.
  await until(async () => {
    await store(1)
    return published > 0
  })
  const before = published
  await store(500)
  await until(() => published >= before + 500)
  await copy.known()
  await copy.log.rewind(1)
  const rewindInbox = 'BEGIN; DELETE FROM blocks; UPDATE writer SET "nextInbox" = 1; COMMIT'
  await onDatabase(copy.log.url, rewindInbox)
  // The operator has accepted the loss.
  await copy.log.replace('0x1122334455667788')
  await copy.log.commit([], [])
  await copy.known()
  const last = published
  const stored = n
  await until(async () => {
    await store(1)
    return published > last || n === stored + 200
  })
  expect(published).toBeGreaterThan(last)
  await own.close()
  await copy.close()
})

test('the states of a block that was stored before anyone subscribed are published on its topic', async () => {
  const own = await serveLog({ settings: { tickMs: neverMs } })
  const { write } = notifyBlockChanges(own.log.store, own.feed.blocks.notify)
  await own.commit(slotOf(owner))
  await write.acceptBlocks([incomingBlock(1, { slot: 3, transactionId: undefined })])
  const wallet = await openListener(own.url)
  const topic = `block-metadata/${blockIdOf(1)}`
  await wallet.listen(topic)
  const states = async () => JSON.parse((await wallet.next(topic)).toString()).blockState
  expect(await states()).toBe('pending')
  const blocks = [{ blockId: blockIdOf(1), state: 'ACCEPTED' as const }]
  await write.book(1, { blocks, transactions: [], created: [], spent: [] })
  expect(await states()).toBe('accepted')
  await wallet.close()
  await own.close()
})

test('the states of a block are published on its topic also after the log was replaced', async () => {
  const own = await serveLog({ settings: { tickMs: neverMs } })
  const { write } = notifyBlockChanges(own.log.store, own.feed.blocks.notify)
  await own.commit(slotOf(owner))
  await write.acceptBlocks([incomingBlock(1, { slot: 9, transactionId: undefined })])
  const wallet = await openListener(own.url)
  const topic = `block-metadata/${blockIdOf(1)}`
  await wallet.listen(topic)
  const states = async () => JSON.parse((await wallet.next(topic)).toString()).blockState
  expect(await states()).toBe('pending')
  // The operator has accepted a loss.
  await own.log.replace('0x1122334455667788')
  await own.commit([])
  await until(() => own.feed.tail.tip().era === 1)
  const blocks = [{ blockId: blockIdOf(1), state: 'ACCEPTED' as const }]
  await write.book(1, { blocks, transactions: [], created: [], spent: [] })
  expect(await states()).toBe('accepted')
  await wallet.close()
  await own.close()
})

test('no older state follows a newer one on the topic of a block', async () => {
  const isRead = createSignal()
  const isReleased = createSignal()
  const own = await serveLog({
    settings: { tickMs: neverMs },
    changed: (read) => ({
      ...read,
      block: async (blockId) => {
        const block = await read.block(blockId)
        isRead.notify()
        await isReleased.wait()
        return block
      },
    }),
  })
  const { write } = notifyBlockChanges(own.log.store, own.feed.blocks.notify)
  await own.commit(slotOf(owner))
  await write.acceptBlocks([incomingBlock(1, { slot: 3, transactionId: undefined })])
  const wallet = await openListener(own.url)
  const topic = `block-metadata/${blockIdOf(1)}`
  const states: string[] = []
  wallet.client.on('message', (_topic, payload) => {
    states.push(JSON.parse(payload.toString()).blockState)
  })
  await wallet.listen(topic)
  await isRead.wait()
  const blocks = [{ blockId: blockIdOf(1), state: 'ACCEPTED' as const }]
  await write.book(1, { blocks, transactions: [], created: [], spent: [] })
  await until(() => states.includes('accepted'))
  isReleased.notify()
  // The answer to this subscription follows everything that was sent before it.
  await wallet.listen('commitments/latest')
  expect(states).toEqual(['accepted'])
  await wallet.close()
  await own.close()
})

test('a client that is closed late while the gateway stops gets what is published until then', async () => {
  const own = await serveLog({ settings: { tickMs: neverMs } })
  const listeners: Listener[] = []
  for (let i = 0; i < 100; i++) {
    const one = await openListener(own.url)
    await one.listen('block-metadata/accepted')
    listeners.push(one)
  }
  const { write } = notifyBlockChanges(own.log.store, own.feed.blocks.notify)
  await own.commit(slotOf(owner))
  await write.acceptBlocks([incomingBlock(1, { slot: 3, transactionId: undefined })])
  const [first, last] = [listeners.at(0), listeners.at(-1)].map((one) => present(one, 'a listener'))
  const closed = event(present(first, 'the first').client, 'close')
  const drained = own.drain(60_000)
  await closed
  const blocks = [{ blockId: blockIdOf(1), state: 'ACCEPTED' as const }]
  await write.book(1, { blocks, transactions: [], created: [], spent: [] })
  const accepted = await present(last, 'the last').next('block-metadata/accepted')
  expect(JSON.parse(accepted.toString())).toMatchObject({ blockId: blockIdOf(1) })
  await drained
  for (const one of listeners) await one.close()
  await own.close()
})
