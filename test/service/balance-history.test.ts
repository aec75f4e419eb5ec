import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assert, present } from '../../src/lib/assert.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import {
  type BalanceHistoryRequest,
  readBalanceHistory,
  spacedSlots,
} from '../../src/service/addresses/balance-history.ts'
import { readTotalAt } from '../../src/service/addresses/read-address.ts'
import type { Store } from '../../src/store/contract.ts'
import { foundActivityLedger } from '../support/activity-model.ts'
import { balancesAt } from '../support/balance-model.ts'
import { databases, useStore } from '../support/databases.ts'
import { createRandom } from '../support/random.ts'
import { randomOwners } from '../support/random-outputs.ts'
import { runs } from '../support/runs.ts'

const parameters = {
  ...developmentParameters(1_700_000_000),
  slotDurationInSeconds: 10,
  slotsPerEpochExponent: 3,
}
const { genesisSlot, minCommittableAge } = parameters
const keys = randomOwners.map(addressKey)
const [someone = '0x'] = keys

function read(store: Store, question: Partial<BalanceHistoryRequest>) {
  return readBalanceHistory({ store, parameters }, { address: someone, points: 1_000, ...question })
}

async function historyOf(store: Store, question: Partial<BalanceHistoryRequest>) {
  const history = await read(store, question)
  assert(history.ok, 'a history')
  return history.value
}

type Ledger = Awaited<ReturnType<typeof foundActivityLedger>>

/** Computes the balance of an address at the end of every slot from all outputs. */
function totalsOf(ledger: Ledger, address: BalanceHistoryRequest['address']): readonly bigint[] {
  return Array.from({ length: ledger.committed() + 1 }, (_, slot) => {
    const balances = balancesAt(ledger.outputs(), slot, minCommittableAge)
    return balances.get(address)?.total ?? 0n
  })
}

describe.each(databases)('the balance of an address over time on $name', ({ create }) => {
  const use = useStore(create)

  async function fill(seed: number, slots: number): Promise<Ledger> {
    const ledger = await foundActivityLedger(use, seed, parameters)
    const random = createRandom(seed)
    while (ledger.committed() < slots) await ledger.commit(random.between(1, 12))
    return ledger
  }

  test('matches all outputs at every point', async () => {
    const ledger = await fill(51, 30)
    const tip = ledger.committed()
    for (const address of keys) {
      const totals = totalsOf(ledger, address)
      for (const count of [0, 1, 2, 7, 20, 1_000]) {
        const { points, knownFrom } = await historyOf(use.store, { address, points: count })
        expect(knownFrom).toBeUndefined()
        expect(points.length).toBeLessThanOrEqual(count)
        for (const { slot, total, changedIn } of points) {
          expect(total).toBe(totals[slot])
          // The balance is constant since this slot.
          const since = totals.slice(changedIn ?? 0, slot + 1)
          expect(new Set(since)).toEqual(new Set([total]))
        }
        const ends = count < 2 ? [] : [points[0], points.at(-1)]
        const first = totals.findIndex((total) => total > 0n)
        for (const [n, point] of ends.entries()) {
          if (first === -1) continue
          const slot = present(point, 'a point').slot
          if (n === 0) expect(slot).toBeLessThanOrEqual(first)
          else expect(slot).toBe(tip)
        }
      }
      // With one point per slot, the points are the whole history.
      const { points } = await historyOf(use.store, { address, fromMilestone: genesisSlot })
      if (points.length > 0) expect(points.map(({ total }) => total)).toEqual(totals)
    }
  })

  test('is limited to the requested milestones', async () => {
    const ledger = await fill(53, 30)
    const slotsOf = async (question: Partial<BalanceHistoryRequest>) =>
      (await historyOf(use.store, question)).points.map(({ slot }) => slot)
    expect(await slotsOf({ fromMilestone: 7, toMilestone: 12 })).toEqual([7, 8, 9, 10, 11, 12])
    expect(await slotsOf({ fromMilestone: 7, toMilestone: 29, points: 5 })).toEqual([
      7, 8, 16, 24, 29,
    ])
    const tip = ledger.committed()
    expect(await slotsOf({ fromMilestone: tip, toMilestone: tip + 9 })).toEqual([tip])
    expect(await slotsOf({ fromMilestone: tip + 1 })).toEqual([])
    const code = async (question: Partial<BalanceHistoryRequest>) => {
      const refused = await read(use.store, question)
      return refused.ok ? undefined : refused.error.code
    }
    expect(await code({ fromMilestone: 9, toMilestone: 8 })).toBe('MILESTONE_RANGE_REVERSED')
    expect(await code({ points: 1_001 })).toBe('PAGE_SIZE_OUT_OF_RANGE')
    expect(await code({ points: -1 })).toBe('PAGE_SIZE_OUT_OF_RANGE')
    const none = await historyOf(use.store, { address: `0x00${'99'.repeat(32)}` })
    expect(none).toEqual({ points: [], knownFrom: undefined })
  })

  test('begins with the retained log', async () => {
    const ledger = await fill(54, 30)
    const before = keys.map((address) => totalsOf(ledger, address))
    await use.store.write.pruneLog({ milestones: 10, rows: 10_000 })
    const knownFrom = (await historyOf(use.store, {})).knownFrom
    expect(knownFrom).toBeGreaterThan(ledger.committed() - 10)
    expect(knownFrom).toBeLessThan(ledger.committed())
    for (const [n, address] of keys.entries()) {
      const { points } = await historyOf(use.store, { address, fromMilestone: genesisSlot })
      expect(points.map(({ total }) => total)).toEqual(
        points.length === 0 ? [] : before[n]?.slice(knownFrom),
      )
    }
    // The balance at one milestone is either exact or rejected.
    const refused = new Set<number>()
    for (const [n, address] of keys.entries()) {
      for (const [slot, expected] of before[n]?.entries() ?? []) {
        const total = await readTotalAt({ store: use.store, parameters }, address, slot)
        if (total.ok) expect(total.value).toBe(expected)
        else {
          expect(total.error.code).toBe('UPDATES_NOT_KEPT')
          refused.add(slot)
        }
      }
    }
    expect(refused.size).toBeGreaterThan(0)
    expect(Math.max(...refused)).toBeLessThan(present(knownFrom, 'a milestone'))
    // Without any retained update, only the newest milestone is known.
    await use.store.write.pruneLog({ milestones: 0, rows: 10_000 })
    const { points } = await historyOf(use.store, {})
    expect(points.map(({ slot, total }) => [slot, total])).toEqual([
      [ledger.committed(), before[0]?.at(-1)],
    ])
  })
})

test('points are both ends and, between them, multiples of a power of two', () => {
  fc.assert(
    fc.property(
      fc.nat(100_000),
      fc.nat(100_000),
      fc.integer({ min: 2, max: 50 }),
      (a, b, points) => {
        const [from, to] = a < b ? [a, b] : [b, a]
        const slots = spacedSlots({ from, to, points })
        expect(slots.length).toBeLessThanOrEqual(points)
        expect([slots[0], slots.at(-1)]).toEqual([from, to])
        const inner = slots.slice(1, -1)
        const steps = inner.slice(1).map((slot, n) => slot - present(inner[n], 'the one before'))
        expect(new Set(steps).size).toBeLessThanOrEqual(1)
        for (const step of new Set(steps)) {
          expect(Number.isInteger(Math.log2(step))).toBe(true)
          expect(inner.every((slot) => slot % step === 0)).toBe(true)
        }
        // The spacing is the smallest possible: at least half the allowed points, or every slot.
        expect(slots.length).toBeGreaterThanOrEqual(Math.min(to - from + 1, points / 2))
      },
    ),
    runs(200),
  )
})
