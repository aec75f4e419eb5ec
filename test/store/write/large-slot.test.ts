import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { noBalance, noTokens } from '../../../src/ledger/balances-of-address.ts'
import { ownerAt } from '../../../src/ledger/updates.ts'
import type { Hex } from '../../../src/lib/hex.ts'
import { addressKey } from '../../../src/protocol/ids.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import type { FoundryId } from '../../../src/protocol/primitives.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import type { AddressTip, LogEntry, OutputRow, SlotContents } from '../../../src/store/rows.ts'
import { rowsPerPage } from '../../../src/store/sql/slot-outputs.ts'
import type { Statements } from '../../../src/store/sql/statements.ts'
import { nextHistoryHash, noTip } from '../../../src/store/write/append.ts'
import { commitSlots } from '../../../src/store/write/commit.ts'
import { decodedOutput } from '../../../src/store/write/output-index.ts'
import { publishApart } from '../../../src/store/write/publish.ts'
import { createTransfers } from '../../bench/transfers.ts'
import { databases, useDatabase, useStore } from '../../support/databases.ts'
import { contentsOf, unwrap } from '../../support/log-store.ts'
import { minCommittableAge } from '../../support/random-ledger.ts'
import {
  addressOf,
  allTokens,
  booking,
  createdOutput,
  entry,
  outputIdOf,
  ownedOutput,
  slotCommit,
  testGenesis,
  testId,
  transactionIdOf,
} from '../../support/store-rows.ts'

/** Tests a slot with more rows than one page or one statement. */

const transfers = rowsPerPage + 200

/** Transfers whose created and spent outputs are more moves of balances than one batch has. */
const passes = 3_000

/** Outputs whose expirations are more moves of balances than one batch has. */
const expiring = 6_000

describe.each(databases)('a large slot on $name', ({ create }) => {
  const use = useStore(create)

  test('is read page by page, and reads are served while it is committed', async () => {
    const { store, term } = use
    unwrap(await store.write.initialize(term, testGenesis()))
    const source = createTransfers(1_000_000, 'many', transfers)
    for (const slot of [1, 2]) {
      const { incoming, booking, entries } = source.next(slot)
      await store.write.acceptBlocks(incoming)
      unwrap(await store.write.closeSlots(term, slot))
      unwrap(await store.write.book(term, booking))
      const contents = await contentsOf(store, slot, slot)
      expect(contents.blocks.map(({ blockId }) => blockId)).toEqual(
        incoming.map(({ blockId }) => blockId),
      )
      expect(contents.transactions.length).toBe(transfers)
      expect(idsOf(contents.created)).toEqual(idsOf(booking.created))
      expect(idsOf(contents.spent)).toEqual(idsOf(booking.spent))
      expect(contents.spent.every(({ spentSlot }) => spentSlot === slot)).toBe(true)

      let isOver = false
      const slots: number[] = []
      const reading = (async () => {
        while (!isOver) {
          await setImmediate()
          slots.push((await store.read.logTip()).slot)
        }
      })()
      unwrap(await store.write.commitSlots(term, [slotCommit(slot, entries)]))
      isOver = true
      await reading
      // On SQLite there would be one read, at the beginning, if the commit did not yield.
      expect(slots.filter((one) => one === slot - 1).length).toBeGreaterThan(2)
      const { seq } = await store.read.logTip()
      const first = (await store.read.milestone(slot))?.firstSeq ?? 0
      expect(seq - first + 1).toBe(entries.length)
      const finals = await store.read.blocks(incoming.map(({ blockId }) => blockId))
      expect(new Set(finals.map(({ state }) => state))).toEqual(new Set(['FINALIZED']))
      expect(finals.length).toBe(transfers)
    }
  }, 120_000)
})

describe.each(databases)('while a large slot is read on $name', ({ create }) => {
  const use = useStore(create)

  test('the lease is renewed, so that no other process takes it before the commit', async () => {
    const { store, term } = use
    unwrap(await store.write.initialize(term, testGenesis()))
    const { incoming, booking } = createTransfers(1_000, 'few', transfers).next(1)
    await store.write.acceptBlocks(incoming)
    unwrap(await store.write.closeSlots(term, 1))
    unwrap(await store.write.book(term, booking))
    let renewal: Promise<void> | undefined
    let isRenewed = false
    let rowsAfter = 0
    const renew = async () => {
      unwrap(await store.write.renewLease(term, 60_000))
      isRenewed = true
    }
    const take = () => {
      renewal ??= renew()
      if (isRenewed) rowsAfter++
    }
    await store.write.readSlots(1, 1, {
      block: take,
      transaction: take,
      created: take,
      spent: take,
    })
    await renewal
    expect(rowsAfter).toBeGreaterThan(transfers)
  })
})

describe.each(databases)('the entries of a large slot on $name', ({ create }) => {
  const use = useStore(create)
  const below = useDatabase(use)

  test('are written batch by batch, and continue the logs of their addresses', async () => {
    const { store, term } = use
    unwrap(await store.write.initialize(term, testGenesis()))
    const source = createTransfers(1_000, 'few', 2_000)
    const tips = new Map<Hex, AddressTip>()
    for (const slot of [1, 2]) {
      const { incoming, booking, entries } = source.next(slot)
      await store.write.acceptBlocks(incoming)
      unwrap(await store.write.closeSlots(term, slot))
      unwrap(await store.write.book(term, booking))
      const counted = countTaken(entries)
      let written = 0
      let mostHeld = 0
      const { raw, statements } = below.opened
      await raw.transact(async (tx) => {
        await statements.shards?.detect(tx)
        const sql: Statements = {
          ...statements,
          insert: (on, table, rows) => {
            mostHeld = Math.max(mostHeld, counted.taken() - written)
            if (table.name === 'ledger_updates') written += rows.length
            return statements.insert(on, table, rows)
          },
        }
        return commitSlots({ tx, sql }, [{ ...slotCommit(slot), entries: counted.entries }])
      })
      await raw.transact((tx) => publishApart({ tx, sql: statements }))
      expect(written).toBe(entries.length)
      expect(entries.length).toBeGreaterThanOrEqual(4_000)
      expect(mostHeld).toBeLessThanOrEqual(4_000)
      for (const entry of entries) {
        const { ordinal, historyHash } = tips.get(entry.address) ?? noTip
        const next = nextHistoryHash(historyHash, slot, entry)
        tips.set(entry.address, { ordinal: ordinal + 1, historyHash: next })
      }
    }
    const { read } = store
    for (const [address, tip] of tips) expect(await read.addressTip(address, 'OWNED')).toEqual(tip)
    const balances = balancesOf(await contentsOf(store, 1, 2))
    for (const [address, total] of balances) {
      expect(await read.totalAt(address, 2)).toBe(total)
    }
  }, 120_000)
})

describe.each(databases)('the same tokens on $name', ({ create }) => {
  const use = useStore(create)

  test('may be passed on in one slot until their sum exceeds every integer of the database', async () => {
    const { store, term } = use
    const amount = 2n ** 62n
    const id = `0x08${'11'.repeat(32)}0100000000` as FoundryId
    const features = [{ type: 5, id, amount: 2n ** 256n - 1n }] as const
    const bytes = encode(Output, { ...ownedOutput(0, amount), features })
    unwrap(
      await store.write.initialize(
        term,
        testGenesis({ outputs: [createdOutput(0, { bookedSlot: 0, bytes })] }),
      ),
    )
    const created = Array.from({ length: passes }, (_, n) => createdOutput(n + 1, { bytes }))
    const spent = created.map((_, n) => {
      return { outputId: outputIdOf(n), spentSlot: 1, spentBy: transactionIdOf(n + 1) }
    })
    unwrap(await store.write.closeSlots(term, 1))
    unwrap(await store.write.book(term, booking({ created, spent })))
    const entries = [
      ...created.map((_, n) => entry(0, n + 1)),
      ...spent.map((_, n) => entry(0, n, { isSpent: true })),
    ]
    unwrap(await store.write.commitSlots(term, [slotCommit(1, entries)]))
    const { read } = store
    const { balance } = await read.balance(addressOf(0))
    expect(balance).toEqual({ ...noBalance, available: amount, outputs: 1 })
    expect(await read.totalAt(addressOf(0), 1)).toBe(amount)
    const tokens = await read.tokenBalances(addressOf(0), allTokens, {
      order: 'ascending',
      limit: 2,
    })
    expect(tokens).toEqual([{ tokenId: id, balance: { ...noTokens, available: 2n ** 256n - 1n } }])
  }, 120_000)
})

describe.each(databases)('the expirations of a slot on $name', ({ create }) => {
  const use = useStore(create)
  const below = useDatabase(use)

  test('pass outputs to other addresses batch by batch, also among other slots', async () => {
    const { store, term } = use
    const outputs = Array.from({ length: expiring }, (_, n) => {
      const output = ownedOutput(2 * n, 1_000n)
      const returnAddress = { type: 0, pubKeyHash: testId('Address', 32, 2 * n + 1) } as const
      const expiration = { type: 3, returnAddress, slot: 2 + minCommittableAge } as const
      const unlockConditions = [...output.unlockConditions, expiration]
      const bytes = encode(Output, { ...output, unlockConditions })
      return createdOutput(n, { bookedSlot: 0, bytes })
    })
    unwrap(await store.write.initialize(term, testGenesis({ outputs })))
    unwrap(await store.write.closeSlots(term, 3))
    let held = 0
    let mostHeld = 0
    const { raw, statements } = below.opened
    await raw.transact(async (tx) => {
      await statements.shards?.detect(tx)
      const sql: Statements = {
        ...statements,
        select: (on, table, rows, text) => {
          if (table.name === 'outputs') held += rows.length
          mostHeld = Math.max(mostHeld, held)
          return statements.select(on, table, rows, text)
        },
        put: (on, table, rows) => {
          if (table.name === 'balances') held = 0
          return statements.put(on, table, rows)
        },
      }
      return commitSlots({ tx, sql }, [slotCommit(1), slotCommit(2), slotCommit(3)])
    })
    await raw.transact((tx) => publishApart({ tx, sql: statements }))
    expect(mostHeld).toBeLessThan(expiring / 2)
    const { read } = store
    const balance = { ...noBalance, available: 1_000n, outputs: 1 }
    for (const n of [0, expiring / 2, expiring - 1]) {
      const [former, next] = [addressOf(2 * n), addressOf(2 * n + 1)]
      expect(await read.balance(former)).toEqual({ slot: 3, balance: noBalance })
      expect(await read.balance(next)).toEqual({ slot: 3, balance })
      const totals = [1, 2, 3].map((slot) => read.totalAt(next, slot))
      expect(await Promise.all(totals)).toEqual([0n, 1_000n, 1_000n])
    }
  }, 120_000)
})

/** Entries of which is known how many were taken since the last time that the first one was. */
function countTaken(entries: readonly LogEntry[]) {
  let taken = 0
  function* each(): Generator<LogEntry> {
    taken = 0
    for (const entry of entries) {
      taken++
      yield entry
    }
  }
  return {
    taken: () => taken,
    entries: { length: entries.length, [Symbol.iterator]: each },
  }
}

/** What the transfers leave to each address: every output has 1,000 base tokens. */
function balancesOf({ created, spent }: SlotContents): Map<Hex, bigint> {
  const totals = new Map<Hex, bigint>()
  const add = (amount: bigint) => (row: OutputRow) => {
    const { output } = decodedOutput(row)
    const address = addressKey(ownerAt(output, 0))
    totals.set(address, (totals.get(address) ?? 0n) + amount)
  }
  created.forEach(add(1_000n))
  spent.forEach(add(-1_000n))
  return totals
}

function idsOf(outputs: readonly { readonly outputId: string }[]): string[] {
  return outputs.map(({ outputId }) => outputId).sort()
}
