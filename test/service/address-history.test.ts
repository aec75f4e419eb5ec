import { describe, expect, test } from 'vitest'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import {
  type AddressHistoryRequest,
  openAddressHistory,
} from '../../src/service/addresses/address-history.ts'
import type { HistoryRow } from '../../src/service/addresses/history-rows.ts'
import type { Store } from '../../src/store/contract.ts'
import { foundActivityLedger } from '../support/activity-model.ts'
import { databases, onDatabase, useStore } from '../support/databases.ts'
import { historyOf } from '../support/history-model.ts'
import { unwrap } from '../support/log-store.ts'
import { createRandom } from '../support/random.ts'
import { randomOwners } from '../support/random-outputs.ts'

const parameters = {
  ...developmentParameters(1_700_000_000),
  slotDurationInSeconds: 10,
  slotsPerEpochExponent: 3,
}
const keys = randomOwners.map(addressKey)
const [someone = '0x'] = keys

const everything = { from: undefined, to: undefined, cursor: undefined }

function open(store: Store, question: Partial<AddressHistoryRequest>) {
  const request = { ...everything, address: someone, ...question }
  return openAddressHistory({ store, parameters, mayLag: true }, request)
}

async function rowsOf(
  store: Store,
  question: Partial<AddressHistoryRequest>,
): Promise<HistoryRow[]> {
  const { rows } = unwrap(await open(store, question))
  const all: HistoryRow[] = []
  for await (const some of rows) all.push(...some)
  return all
}

const bare = (rows: readonly HistoryRow[]) => rows.map(({ cursor: _, ...row }) => row)

describe.each(databases)('the history of an address on $name', ({ name, create }) => {
  const use = useStore(create)

  test.each([41, 42])(
    'has a row for each transaction and token and each expiration (seed %i)',
    async (seed) => {
      const ledger = await foundActivityLedger(use, seed, parameters)
      const random = createRandom(seed)
      while (ledger.committed() < 40) await ledger.commit(random.between(1, 12))
      const states = new Set<string>()
      let tokens = 0
      for (const address of keys) {
        const expected = historyOf(ledger, parameters, address)
        expect(bare(await rowsOf(use.store, { address }))).toEqual(expected)
        expect(bare(await rowsOf(use.store, { address, pageRows: 1 }))).toEqual(expected)
        expect(bare(await rowsOf(use.store, { address, pageRows: 3 }))).toEqual(expected)
        for (const { state, token } of expected) {
          states.add(state)
          tokens += Number(token !== undefined)
        }
      }
      expect(states).toEqual(new Set(['FINALIZED', 'EXPIRED']))
      expect(tokens).toBeGreaterThan(0)
    },
  )

  test('continues after any of its rows, including new rows', async () => {
    const ledger = await foundActivityLedger(use, 43, parameters)
    await ledger.commit(25)
    const rows = await rowsOf(use.store, {})
    expect(rows.length).toBeGreaterThan(10)
    await ledger.commit(5)
    const all = await rowsOf(use.store, {})
    expect(all.slice(0, rows.length)).toEqual(rows)
    for (const [i, { cursor }] of all.entries()) {
      expect(await rowsOf(use.store, { cursor, pageRows: 4 })).toEqual(all.slice(i + 1))
    }
  })

  test('is limited to the milestones of a time range', async () => {
    const ledger = await foundActivityLedger(use, 44, parameters)
    await ledger.commit(25)
    const all = await rowsOf(use.store, {})
    for (const [from, to] of [
      [7, 15],
      [0, 3],
      [24, 99],
      [9, 9],
    ] as const) {
      const time = (slot: number) => 1_700_000_000 + slot * parameters.slotDurationInSeconds
      const within = all.filter(({ milestoneIndex: at }) => at >= from && at < to)
      expect(await rowsOf(use.store, { from: time(from), to: time(to) })).toEqual(within)
      const inside = { from: time(from) - 1, to: time(to) - 1 }
      expect(await rowsOf(use.store, inside)).toEqual(within)
    }
    expect(await open(use.store, { from: 9, to: 8 })).toEqual({
      ok: false,
      error: { code: 'HISTORY_RANGE_REVERSED' },
    })
  })

  test('begins with the retained log, and rejects cursors before it', async () => {
    const ledger = await foundActivityLedger(use, 45, parameters)
    await ledger.commit(25)
    const all = await rowsOf(use.store, {})
    await use.store.write.pruneLog({ milestones: 10, rows: 10_000 })
    const { retainedFrom } = unwrap(await open(use.store, {}))
    const kept = all.filter(({ milestoneIndex }) => milestoneIndex >= retainedFrom)
    const slots = ledger.transactions.map(({ slot }) => slot).filter((slot) => slot >= 16)
    expect([retainedFrom, kept.length > 0]).toEqual([Math.min(...slots), true])
    expect(await rowsOf(use.store, {})).toEqual(kept)
    const lost = all.filter(({ milestoneIndex }) => milestoneIndex < 15).at(-1)
    expect(await open(use.store, { cursor: lost?.cursor })).toMatchObject({
      ok: false,
      error: { code: 'UPDATES_NOT_KEPT' },
    })
  })

  test.each(['pruned', 'replaced'])('fails if rows are %s while it is read', async (what) => {
    const ledger = await foundActivityLedger(use, 46, parameters)
    await ledger.commit(25)
    const { rows } = unwrap(await open(use.store, { pageRows: 1 }))
    const reading = rows[Symbol.asyncIterator]()
    await reading.next()
    const other = name === 'sqlite' ? "x'0102030405060709'" : "'\\x0102030405060709'"
    if (what === 'pruned') await use.store.write.pruneLog({ milestones: 1, rows: 10_000 })
    else await onDatabase(use.url, `UPDATE network SET "logId" = ${other}`)
    const rest = async () => {
      while (!(await reading.next()).done);
    }
    await expect(rest()).rejects.toThrow('was pruned or replaced')
  })

  test.each([
    ['', 'CURSOR_MALFORMED'],
    ['x.1.0', 'CURSOR_MALFORMED'],
    ['CURSOR', 'CURSOR_MALFORMED'],
    ['CURSOR.99.0', 'CURSOR_MALFORMED'],
    ['CURSOR.1.-1', 'CURSOR_MALFORMED'],
    ['CURSOR.1.0.0', 'CURSOR_MALFORMED'],
  ])('rejects the cursor %j', async (text, code) => {
    const ledger = await foundActivityLedger(use, 47, parameters)
    await ledger.commit(3)
    const [position = ''] = (await rowsOf(use.store, {})).at(-1)?.cursor.split('.') ?? []
    const cursor = text.replace('CURSOR', position)
    expect(await open(use.store, { cursor })).toMatchObject({ ok: false, error: { code } })
  })
})
