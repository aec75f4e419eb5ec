import { describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import {
  accountIdOfKey,
  developmentGenesis,
  developmentKeys,
} from '../../../src/node/embedded/development.ts'
import type { GenesisPlan } from '../../../src/node/genesis.ts'
import { databases, defaultDatabase } from '../../support/databases.ts'
import { openEmbeddedLedger } from '../../support/embedded-ledger.ts'
import { createMemoryLog } from '../../support/memory-log.ts'
import { incomingBlock } from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'

/** Tests the embedded ledger over several epochs, on a real store and a settable clock. */

const keys = developmentKeys()
const validator = accountIdOfKey(keys.issuer)
const startSeconds = 1_800_000_000

/** Returns the development network with epochs of 32 slots, so that several pass within a test. */
function shortEpochs(): GenesisPlan {
  const plan = developmentGenesis(keys, startSeconds)
  return { ...plan, parameters: { ...plan.parameters, slotsPerEpochExponent: 5 } }
}

/** Runs a ledger slot by slot on one database. */
async function openLedger(url: string) {
  const issuer = { key: keys.issuer, accountId: validator }
  const ledger = await openEmbeddedLedger(url, { startSeconds, genesis: shortEpochs(), issuer })

  /** Waits until a slot is committed and the block after its commit is booked. */
  async function reach(slot: number): Promise<void> {
    await ledger.untilCommitted(slot)
    await until(async () => (await heartbeatOf()) === 'ACCEPTED')
  }

  async function heartbeatOf() {
    const { store, source } = ledger.at()
    const [newest] = await store.read.recentBlocks(1)
    return newest?.slot === source.status().slot ? newest.state : undefined
  }

  return {
    ...ledger,
    reach,
    advance: async (slots: number) => {
      for (let i = 0; i < slots; i++) {
        const { latestCommittedSlot } = ledger.at().source.status()
        ledger.clock.advance(1_000_000_000n)
        await reach(latestCommittedSlot + 1)
      }
    },
  }
}

describe.each(databases)('the embedded ledger on $name', ({ create }) => {
  test('has the same commitments, accounts and rewards after a restart', async () => {
    const [one, other] = await Promise.all([create(), create()])
    const whole = await openLedger(one.url)
    const cut = await openLedger(other.url)
    const committed = shortEpochs().parameters.minCommittableAge
    await Promise.all([whole.reach(65 - committed), cut.reach(65 - committed)])
    await Promise.all([whole.advance(34), cut.advance(34)])
    await cut.restart()
    await Promise.all([whole.advance(34), cut.advance(34)])
    const slots = Array.from({ length: 133 - committed }, (_, slot) => slot)
    for (const slot of slots) {
      const [a, b] = await Promise.all(
        [whole, cut].map((run) => run.at().store.read.milestone(slot)),
      )
      expect({ slot, id: a?.commitmentId }).toEqual({ slot, id: b?.commitmentId })
    }
    const epochs = await whole.at().store.read.epochs(0)
    // The committee of epoch 5 is chosen in slot 159 - 8, which is not reached.
    expect(epochs.map(({ epoch }) => epoch)).toEqual([0, 1, 2, 3, 4])
    expect(epochs.map(({ committee }) => committee.map(({ accountId }) => accountId))).toEqual([
      [validator],
      [validator],
      [validator],
      [validator],
      [validator],
    ])
    const pool = present(epochs[3]?.rewards, 'rewards of epoch 3').poolById.get(validator)
    expect(pool?.poolStake).toBe(100_000_000n)
    expect(pool?.poolReward).toBeGreaterThan(0n)
    await Promise.all([whole.close(), cut.close()])
    await Promise.all([one.remove(), other.remove()])
  }, 120_000)
})

test('the embedded ledger logs its progress rarely while it commits many past slots', async () => {
  const database = await defaultDatabase().create()
  const { log, names } = createMemoryLog()
  const genesis = developmentGenesis(keys, startSeconds - 4_500)
  const ledger = await openEmbeddedLedger(database.url, { startSeconds, genesis, log })
  await ledger.untilCommitted(4_500)
  const lines = names('catching-up').length
  expect(lines).toBeGreaterThan(0)
  expect(names('slots-committed').length).toBeGreaterThan(lines + 2)
  await ledger.close()
  await database.remove()
})

test('the embedded ledger commits slots while blocks arrive faster than it books them', async () => {
  const database = await defaultDatabase().create()
  const genesis = developmentGenesis(keys, startSeconds)
  const ledger = await openEmbeddedLedger(database.url, { startSeconds, genesis })
  const { store, source } = ledger.at()
  const { slot } = source.status()
  const committed = slot - genesis.parameters.minCommittableAge
  await ledger.untilCommitted(committed)
  const block = { slot: slot + 2, transactionId: undefined }
  let blocks = 0
  let calls = 0
  for (; calls < 100 && source.status().latestCommittedSlot === committed; calls++) {
    const some = Array.from({ length: 600 }, () => incomingBlock(++blocks, block))
    await store.write.acceptBlocks(some)
    if (calls === 2) ledger.clock.advance(1_000_000_000n)
  }
  expect(calls).toBeLessThan(100)
  await ledger.close()
  await database.remove()
})

// A booking has at most 500 blocks.
test.each([20, 600])(
  'the embedded ledger ends while other processes accept %i blocks at a time',
  async (count) => {
    const database = await defaultDatabase().create()
    const genesis = developmentGenesis(keys, startSeconds)
    const ledger = await openEmbeddedLedger(database.url, { startSeconds, genesis })
    const { store, source } = ledger.at()
    const { slot } = source.status()
    await ledger.untilCommitted(slot - genesis.parameters.minCommittableAge)
    const block = { slot, transactionId: undefined }
    let blocks = 0
    let isClosed = false
    const closing = source.close().then(() => {
      isClosed = true
    })
    for (let calls = 0; calls < 100 && !isClosed; calls++) {
      const some = Array.from({ length: count }, () => incomingBlock(++blocks, block))
      await store.write.acceptBlocks(some)
    }
    expect(isClosed).toBe(true)
    await closing
    await ledger.close()
    await database.remove()
  },
  60_000,
)
