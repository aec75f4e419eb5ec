import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { beforeEach, describe, expect, test } from 'vitest'
import { Block } from '../../../src/protocol/block.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import { branchOf, noBranch } from '../../../src/store/values.ts'
import { databases, openedStore, useStore } from '../../support/databases.ts'
import { sessionsAwaitingLocks } from '../../support/postgresql-server.ts'
import {
  addressOf,
  blockIdOf,
  booking,
  entry,
  incomingBlock,
  slotCommit,
  testGenesis,
  testId,
  wholeLog,
} from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'

describe.each(databases)('pruning on $name', ({ name, create }) => {
  const use = useStore(create)

  beforeEach(async () => {
    const { write } = use.store
    await write.initialize(use.term, testGenesis())
    await write.closeSlots(use.term, 10)
    // Slots 1 to 3 have two rows of address 1 each, slot 2 has one row of address 2 as well, and slot 4 is empty.
    await write.commitSlots(use.term, [
      slotCommit(1, [entry(1, 1), entry(1, 2, { class: 'MENTIONED' })]),
      slotCommit(2, [entry(1, 3), entry(2, 4), entry(1, 5, { class: 'MENTIONED' })]),
      slotCommit(3, [entry(1, 6), entry(1, 7, { class: 'MENTIONED' })]),
      slotCommit(4),
    ])
  })

  const seqs = async () => (await use.store.read.updates(wholeLog)).map(({ seq }) => seq)

  const cuts = [
    ['keeps all rows if there are fewer milestones', 5, 0],
    ['keeps the rows of the newest milestones', 2, 6],
    ['keeps no rows if the newest milestones have none', 1, 8],
  ] as const
  test.each(cuts)('%s', async (_name, milestones, prunedSeq) => {
    const before = await seqs()
    const pruned = await use.store.write.pruneLog({ milestones, rows: 100 })
    expect(pruned).toEqual({ prunedSeq, isDone: true })
    expect(await seqs()).toEqual(before.filter((seq) => seq > prunedSeq))
    expect(await use.store.read.logTip()).toMatchObject({ seq: 8, slot: 4, prunedSeq })
  })

  test('keeps the branches of all positions, and the writer returns them too (5)', async () => {
    const { read, write } = use.store
    const positions = [0, 1, 2, 3, 4, 6, 7, 8, 9]
    const slots = [undefined, 0, 1, 1, 2, 2, 3, 3, undefined]
    const expected = slots.map((slot) =>
      slot === undefined ? noBranch : branchOf(slotCommit(slot).commitmentId),
    )
    expect(await read.branchesAt(positions)).toEqual(expected)
    // The cut is in the middle of slot 2.
    await write.pruneLog({ milestones: 2, rows: 4 })
    expect(await read.branchesAt(positions)).toEqual(expected)
    const tip = { branch: expected[7], prunedSeq: 4, prunedBranch: expected[4] }
    expect(await read.logTip()).toMatchObject(tip)
    const slot = slotCommit(5)
    expect(await write.commitSlots(use.term, [slot])).toMatchObject({
      value: { ...tip, slot: 5, commitmentId: slot.commitmentId },
    })
    await write.pruneLog({ milestones: 1, rows: 100 })
    const end = { seq: 8, prunedSeq: 8, branch: expected[7], prunedBranch: expected[7] }
    expect(await read.logTip()).toMatchObject(end)
  })

  test('removes at most `rows` rows at once', async () => {
    const keep = { milestones: 2, rows: 4 }
    expect(await use.store.write.pruneLog(keep)).toEqual({ prunedSeq: 4, isDone: false })
    expect(await seqs()).toEqual([5, 6, 7, 8])
    expect(await use.store.write.pruneLog(keep)).toEqual({ prunedSeq: 6, isDone: true })
    expect(await use.store.write.pruneLog(keep)).toEqual({ prunedSeq: 6, isDone: true })
  })

  test('keeps the last ordinal and history hash of every address, and continues from there (18)', async () => {
    const { read, write } = use.store
    const [owned] = (await read.updates({ ...wholeLog, address: addressOf(1) })).filter(
      (row) => row.class === 'OWNED' && row.milestoneIndex === 2,
    )
    await write.pruneLog({ milestones: 2, rows: 2 })
    await write.pruneLog({ milestones: 2, rows: 100 })
    expect(await read.prunedTip(addressOf(1), 'OWNED')).toMatchObject({
      ordinal: 2,
      historyHash: owned?.historyHash,
      milestoneIndex: 2,
    })
    expect(await read.prunedTip(addressOf(2), 'MENTIONED')).toBeUndefined()
    await write.commitSlots(use.term, [slotCommit(5, [entry(1, 8), entry(2, 9)])])
    const behind = await read.updates({ ...wholeLog, classes: ['OWNED'], after: 8 })
    expect(behind.map(({ ordinal }) => ordinal)).toEqual([4, 2])
    expect(await read.addressTip(addressOf(1), 'OWNED')).toMatchObject({ ordinal: 4 })
  })

  test('keeps what an address owned at the end of every retained milestone (18)', async () => {
    const { read, write } = use.store
    const slots = [2, 3, 4]
    const totals = () => Promise.all(slots.map((slot) => read.totalAt(addressOf(0), slot)))
    const before = await totals()
    expect(before).toEqual([1_000n, 1_000n, 1_000n])
    await write.pruneLog({ milestones: 2, rows: 100 })
    expect(await totals()).toEqual(before)
  })

  // On SQLite a writing transaction has the whole file.
  test.skipIf(name === 'sqlite')(
    'does not put back the tips of an address if another process prunes more meanwhile (18)',
    async () => {
      const { read, write } = use.store
      const proxy = await openHoldingProxy(use.url, 'INSERT INTO pruned_tips')
      const slow = await openedStore(proxy.url)
      const pruning = slow.write.pruneLog({ milestones: 3, rows: 2 })
      await proxy.holds
      let isOver = false
      const more = write.pruneLog({ milestones: 1, rows: 100 }).finally(() => {
        isOver = true
      })
      await until(async () => isOver || (await sessionsAwaitingLocks(use.url)) > 0)
      proxy.release()
      await Promise.all([pruning, more])
      expect(await read.prunedTip(addressOf(1), 'OWNED')).toMatchObject({ ordinal: 3 })
      await write.commitSlots(use.term, [slotCommit(5, [entry(1, 8)])])
      expect(await read.addressTip(addressOf(1), 'OWNED')).toMatchObject({ ordinal: 4 })
      await slow.close()
      proxy.close()
    },
  )
})

/** Opens a proxy that holds the first message with a text, and all later ones of its connection, until it is released. */
async function openHoldingProxy(url: string, text: string) {
  let hold = () => {}
  let release = () => {}
  const holds = new Promise<void>((resolve) => {
    hold = resolve
  })
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const server = createServer((socket) => {
    const there = connect(Number(new URL(url).port), '127.0.0.1')
    there.pipe(socket)
    for (const end of [socket, there]) end.on('error', () => there.destroy())
    socket.on('end', () => there.end())
    let sent = Promise.resolve()
    socket.on('data', (bytes) => {
      if (bytes.includes(text)) {
        hold()
        sent = sent.then(() => released)
      }
      sent = sent.then(() => void there.write(bytes))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    holds,
    release,
    close: () => server.close(),
  }
}

describe.each(databases)('pruning of blocks on $name', ({ create }) => {
  const use = useStore(create)

  test('keeps the blocks of the newest slots, and every vote that is not counted', async () => {
    const { read, write } = use.store
    await write.initialize(use.term, testGenesis())
    const slots = [1, 2, 3, 4, 5]
    const kinds = ['basic', 'validation'] as const
    const blocks = kinds.flatMap((kind, i) =>
      slots.map((slot) => ({ ...blockWithoutPayload(10 * i + slot), kind, slot })),
    )
    await write.acceptBlocks(blocks)
    await write.closeSlots(use.term, 5)
    const booked = blocks.map(({ blockId }) => ({ blockId, state: 'ACCEPTED' }) as const)
    await write.book(use.term, booking({ blocks: booked }))
    const commits = slots.map((slot) => slotCommit(slot))
    await write.commitSlots(use.term, commits)
    const pruned = await write.pruneBlocks({ slots: 2, votesBefore: 2, rows: 100 })
    expect(pruned).toEqual({ pruned: 3, isDone: true })
    const left = await Promise.all(blocks.map(({ blockId }) => read.block(blockId)))
    const slotsLeft = kinds.map((one) =>
      left.flatMap((block) => (block?.kind === one ? block.slot : [])),
    )
    expect(slotsLeft).toEqual([
      [3, 4, 5],
      [2, 3, 4, 5],
    ])
  })
})

/** The block of a number, whose bytes can be decoded. */
function blockWithoutPayload(n: number) {
  const block: Block = {
    header: {
      ...{ protocolVersion: 3, networkId: 1n, issuingTime: BigInt(n), latestFinalizedSlot: 0 },
      slotCommitmentId: slotCommit(0).commitmentId,
      issuerId: testId('AccountId', 32, 0),
    },
    body: {
      ...{ type: 0, strongParents: [blockIdOf(0)], weakParents: [], shallowLikeParents: [] },
      ...{ payload: undefined, maxBurnedMana: 0n },
    },
    signature: { type: 0, publicKey: testId('Key', 32, 0), signature: testId('Signature', 64, 0) },
  }
  return incomingBlock(n, { bytes: encode(Block, block), transactionId: undefined })
}
