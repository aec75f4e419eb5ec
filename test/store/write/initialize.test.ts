import { describe, expect, test } from 'vitest'
import { branchOf, noBranch } from '../../../src/store/values.ts'
import { databases, openedStore, useStore } from '../../support/databases.ts'
import {
  addressOf,
  createdOutput,
  entry,
  incomingBlock,
  outputIdOf,
  slotCommit,
  testGenesis,
} from '../../support/store-rows.ts'

describe.each(databases)('the creation of a ledger on $name', ({ create }) => {
  const use = useStore(create)

  test('writes network, outputs, accounts, the first milestone and the first rows', async () => {
    const genesis = testGenesis()
    expect(await use.store.read.network()).toBeUndefined()
    const { slot, commitmentId, bytes } = genesis.commit
    const tip = {
      logId: genesis.network.logId,
      seq: 1,
      branch: branchOf(commitmentId),
      slot: 0,
      commitmentId,
      prunedSeq: 0,
      prunedBranch: noBranch,
    }
    expect(await use.store.write.initialize(use.term, genesis)).toEqual({ ok: true, value: tip })
    const { read } = use.store
    expect(await read.network()).toEqual(genesis.network)
    expect(await read.logTip()).toEqual(tip)
    const output = genesis.outputs[0]
    expect(await read.output(outputIdOf(0))).toEqual({
      ...output,
      spentSlot: undefined,
      spentBy: undefined,
    })
    const [account] = genesis.accounts
    expect(account && (await read.accountEntry(account.accountId))).toEqual(account?.entry)
    expect(await read.epochs(0)).toEqual([genesis.epoch])
    expect(await read.milestone(0)).toEqual({ slot, commitmentId, bytes, firstSeq: 1, lastSeq: 1 })
    expect(await read.addressTip(addressOf(0), 'OWNED')).toMatchObject({ ordinal: 1 })
  })

  test('succeeds once, and its result outlasts a restart', async () => {
    await use.store.write.initialize(use.term, testGenesis())
    const other = testGenesis({ network: { logId: '0xffffffffffffffff', parameters: zero } })
    const answer = await use.store.write.initialize(use.term, other)
    expect(answer).toEqual({ ok: false, error: { code: 'ALREADY_FOUNDED' } })
    const again = await openedStore(use.url)
    expect(await again.read.network()).toEqual(testGenesis().network)
    await again.close()
  })

  test('changes nothing when it fails halfway', async () => {
    const twice = [createdOutput(0), createdOutput(0)]
    await expect(
      use.store.write.initialize(use.term, testGenesis({ outputs: twice })),
    ).rejects.toThrow()
    expect(await use.store.read.network()).toBeUndefined()
    expect(await use.store.write.initialize(use.term, testGenesis())).toMatchObject({ ok: true })
  })

  test('may begin at a later slot, and closes all slots up to it', async () => {
    const commit = slotCommit(90, [entry(0, 0)])
    await use.store.write.initialize(use.term, testGenesis({ commit }))
    const blocks = [90, 91].map((slot) => incomingBlock(slot, { slot }))
    expect(await use.store.write.acceptBlocks(blocks)).toEqual(['SLOT_CLOSED', 'ACCEPTED'])
  })
})

const zero = Uint8Array.of(0)
