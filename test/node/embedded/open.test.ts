import { describe, expect, test } from 'vitest'
import { assert, present } from '../../../src/lib/assert.ts'
import { createSettableClock } from '../../../src/lib/clock.ts'
import { guardClock } from '../../../src/lib/guarded-clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import {
  accountIdOfKey,
  developmentGenesis,
  developmentKeys,
} from '../../../src/node/embedded/development.ts'
import { openEmbedded } from '../../../src/node/embedded/open.ts'
import type { GenesisPlan } from '../../../src/node/genesis.ts'
import { openSignatureChecker } from '../../../src/node/signatures.ts'
import { databases, openedStore } from '../../support/databases.ts'
import { until } from '../../support/until.ts'

/** The ledger inside over several epochs, on a real store and a clock that is set by hand. */

const keys = developmentKeys()
const validator = accountIdOfKey(keys.issuer)
const startSeconds = 1_800_000_000

/** The development network with epochs of 32 slots, so that some pass within a test. */
function shortEpochs(): GenesisPlan {
  const plan = developmentGenesis(keys, startSeconds)
  return { ...plan, parameters: { ...plan.parameters, slotsPerEpochExponent: 5 } }
}

/** Runs a ledger slot by slot on one database; it can be closed and opened again at any slot. */
async function openLedger(url: string) {
  const clock = createSettableClock(BigInt(startSeconds) * 1_000_000_000n)
  const signatures = openSignatureChecker({ queueLimit: 10 })
  let resolveCommit = () => {}
  let opened = await reopen()

  async function reopen() {
    const store = await openedStore(url)
    const source = await openEmbedded(
      {
        store,
        clock: guardClock({ clock, log: silentLog }),
        log: silentLog,
        signatures,
        holder: 'test:1',
        onCommitted: () => resolveCommit(),
      },
      {
        genesis: shortEpochs(),
        networkName: undefined,
        issuer: { key: keys.issuer, accountId: validator },
      },
    )
    assert(source.ok, 'the ledger opens')
    return { store, source: source.value }
  }

  /** Until a slot is committed and the block that follows its commit is booked. */
  async function reach(slot: number): Promise<void> {
    while (opened.source.status().latestCommittedSlot < slot) {
      await new Promise<void>((resolve) => {
        resolveCommit = resolve
        if (opened.source.status().latestCommittedSlot >= slot) resolve()
      })
    }
    await until(async () => (await heartbeatOf()) === 'ACCEPTED')
  }

  async function heartbeatOf() {
    const [newest] = await opened.store.read.recentBlocks(1)
    return newest?.slot === opened.source.status().slot ? newest.state : undefined
  }

  return {
    at: () => opened,
    reach,
    advance: async (slots: number) => {
      for (let i = 0; i < slots; i++) {
        const { latestCommittedSlot } = opened.source.status()
        clock.advance(1_000_000_000n)
        await reach(latestCommittedSlot + 1)
      }
    },
    restart: async () => {
      await opened.source.close()
      await opened.store.close()
      opened = await reopen()
    },
    close: async () => {
      await opened.source.close()
      await opened.store.close()
      await signatures.close()
    },
  }
}

describe.each(databases)('the ledger inside on $name', ({ create }) => {
  test('a restart changes nothing: the same commitments, accounts and rewards', async () => {
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
