import { describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { databases, onDatabase, useStore } from '../support/databases.ts'
import {
  accountVersion,
  blockIdOf,
  booking,
  incomingBlock,
  slotCommit,
  testGenesis,
} from '../support/store-rows.ts'

describe.each(databases)('final results of reads on $name', ({ create }) => {
  const use = useStore(create)

  test('are cached once they exist: a commitment, an account as of it, the time of a block', async () => {
    const { read, write } = use.store
    await write.initialize(use.term, testGenesis())
    const first = blockIdOf(1)
    const version = accountVersion(1, 1)
    const { accountId } = version
    const { accountId: nobody } = accountVersion(2, 1)
    expect(await read.milestoneByCommitment(slotCommit(1).commitmentId)).toBeUndefined()
    expect(await read.issuingTimes([first])).toEqual(new Map())
    // The slot is in the future, so the result may change.
    expect(await read.accountEntry(accountId, 1)).toBeUndefined()

    const block = incomingBlock(1)
    await write.acceptBlocks([block])
    await write.closeSlots(use.term, 1)
    await write.book(use.term, booking({ blocks: [{ blockId: first, state: 'ACCEPTED' }] }))
    await write.commitSlots(use.term, [{ ...slotCommit(1), accounts: [version] }])
    const readFinal = async () => ({
      milestone: await read.milestoneByCommitment(slotCommit(1).commitmentId),
      entry: await read.accountEntry(accountId, 1),
      none: await read.accountEntry(nobody, 1),
      times: await read.issuingTimes([first, blockIdOf(2)]),
    })
    const answers = await readFinal()
    expect(present(answers.milestone, 'milestone').slot).toBe(1)
    expect(answers.entry).toEqual(version.entry)
    expect(answers.none).toBeUndefined()
    expect(answers.times).toEqual(new Map([[first, block.issuingTime]]))

    for (const table of ['commitments', 'account_versions', 'blocks']) {
      await onDatabase(use.url, `ALTER TABLE ${table} RENAME TO gone_${table}`)
    }
    await expect(readFinal()).rejects.toThrow()
    expect(await read.issuingTimes([first])).toEqual(answers.times)
    expect(await read.milestoneByCommitment(slotCommit(1).commitmentId)).toEqual(answers.milestone)
    expect(await read.accountEntry(accountId, 1)).toEqual(version.entry)
    for (const table of ['commitments', 'account_versions', 'blocks']) {
      await onDatabase(use.url, `ALTER TABLE gone_${table} RENAME TO ${table}`)
    }
  })
})
