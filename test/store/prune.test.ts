import { beforeEach, describe, expect, test } from 'vitest'
import { databases, useStore } from '../support/databases.ts'
import { addressOf, entry, slotCommit, testGenesis, wholeLog } from '../support/store-rows.ts'

describe.each(databases)('giving up the oldest rows on $name', ({ create }) => {
  const use = useStore(create)

  beforeEach(async () => {
    const { write } = use.store
    await write.found(use.term, testGenesis())
    await write.closeSlots(use.term, 10)
    // Two rows of address 1 in each slot, one of address 2 in the second; slot 4 is empty.
    await write.commitSlots(use.term, [
      slotCommit(1, [entry(1, 1), entry(1, 2, { class: 'MENTIONED' })]),
      slotCommit(2, [entry(1, 3), entry(2, 4), entry(1, 5, { class: 'MENTIONED' })]),
      slotCommit(3, [entry(1, 6), entry(1, 7, { class: 'MENTIONED' })]),
      slotCommit(4),
    ])
  })

  const seqs = async () => (await use.store.read.updates(wholeLog)).map(({ seq }) => seq)

  const cuts = [
    ['keeps all where there are not as many milestones', 5, 0],
    ['keeps those of the newest milestones', 2, 6],
    ['keeps none where the newest have none', 1, 8],
  ] as const
  test.each(cuts)('%s', async (_name, milestones, prunedSeq) => {
    const before = await seqs()
    const pruned = await use.store.write.pruneLog({ milestones, rows: 100 })
    expect(pruned).toEqual({ prunedSeq, isDone: true })
    expect(await seqs()).toEqual(before.filter((seq) => seq > prunedSeq))
    expect(await use.store.read.logTip()).toMatchObject({ seq: 8, slot: 4, prunedSeq })
  })

  test('takes no more at once than it was told', async () => {
    const keep = { milestones: 2, rows: 4 }
    expect(await use.store.write.pruneLog(keep)).toEqual({ prunedSeq: 4, isDone: false })
    expect(await seqs()).toEqual([5, 6, 7, 8])
    expect(await use.store.write.pruneLog(keep)).toEqual({ prunedSeq: 6, isDone: true })
    expect(await use.store.write.pruneLog(keep)).toEqual({ prunedSeq: 6, isDone: true })
  })

  test('keeps where every address stood, and counts on from there (18)', async () => {
    const { read, write } = use.store
    const [owned] = (await read.updates({ ...wholeLog, address: addressOf(1) })).filter(
      (row) => row.class === 'OWNED' && row.milestoneIndex === 2,
    )
    await write.pruneLog({ milestones: 2, rows: 2 })
    await write.pruneLog({ milestones: 2, rows: 100 })
    expect(await read.prunedTip(addressOf(1), 'OWNED')).toMatchObject({
      ordinal: 2,
      chain: owned?.chain,
      milestoneIndex: 2,
    })
    expect(await read.prunedTip(addressOf(2), 'MENTIONED')).toBeUndefined()
    await write.commitSlots(use.term, [slotCommit(5, [entry(1, 8), entry(2, 9)])])
    const behind = await read.updates({ ...wholeLog, classes: ['OWNED'], after: 8 })
    expect(behind.map(({ ordinal }) => ordinal)).toEqual([4, 2])
    expect(await read.addressTip(addressOf(1), 'OWNED')).toMatchObject({ ordinal: 4 })
  })

  test('still knows what an address owned at the end of every milestone that is kept (18)', async () => {
    const { read, write } = use.store
    const slots = [2, 3, 4]
    const totals = () => Promise.all(slots.map((slot) => read.totalAt(addressOf(0), slot)))
    const before = await totals()
    expect(before).toEqual([1_000n, 1_000n, 1_000n])
    await write.pruneLog({ milestones: 2, rows: 100 })
    expect(await totals()).toEqual(before)
  })
})
