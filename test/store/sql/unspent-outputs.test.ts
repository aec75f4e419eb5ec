import { describe, expect, test } from 'vitest'
import { slotsAwaited } from '../../../src/ledger/holdings.ts'
import { expiringKeysOf, type IndexKey, indexKeysOf } from '../../../src/ledger/index-keys.ts'
import { conditionOf, featureOf } from '../../../src/ledger/output-parts.ts'
import { present } from '../../../src/lib/assert.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { NativeToken } from '../../../src/protocol/features.ts'
import { addressKey } from '../../../src/protocol/ids.ts'
import {
  AddressUnlock,
  Expiration,
  ImmutableAccount,
  StorageDepositReturn,
  Timelock,
} from '../../../src/protocol/unlock-conditions.ts'
import { databaseOf } from '../../../src/store/connect.ts'
import type {
  OutputKey,
  OutputPosition,
  SlotBounds,
  UnspentFilter,
} from '../../../src/store/contract/view.ts'
import type { Store } from '../../../src/store/contract.ts'
import { tableNames } from '../../../src/store/migrate.ts'
import { countRows, rowsOf } from '../../../src/store/sql/tables.ts'
import { indexKindToNumber } from '../../../src/store/values.ts'
import { type ModelOutput, ownerInSlot } from '../../support/balance-model.ts'
import { databases, onDatabase, openedStore, useStore } from '../../support/databases.ts'
import { undoHolders } from '../../support/former-index-keys.ts'
import { unwrap } from '../../support/log-store.ts'
import { createRandom, type Random } from '../../support/random.ts'
import {
  foundRandomLedger,
  minCommittableAge,
  type RandomLedger,
} from '../../support/random-ledger.ts'
import { randomOwners, randomTokens } from '../../support/random-outputs.ts'

const keys = randomOwners.map(addressKey)

describe.each(databases)('unspent outputs on $name', ({ create }) => {
  const use = useStore(create)

  test.each([4, 5])(
    'equal a scan of a list for every filter, page by page (seed %i)',
    async (seed) => {
      const ledger = await foundRandomLedger(use, seed)
      const random = createRandom(seed)
      let found = 0
      for (let step = 0; step < 15; step++) {
        await ledger.book()
        await ledger.commit()
        await ledger.book()
        for (let n = 0; n < 10; n++) {
          const filter = randomFilter(random, ledger)
          const expected = matching(ledger, filter).map(({ outputId }) => outputId)
          expect(await allPages(use.store, filter, random.between(1, 4))).toEqual(expected)
          found += expected.length
        }
      }
      expect(found).toBeGreaterThan(200)
      await ledger.commit()
      expect(await storedRows(use.url)).toEqual(expectedRows(ledger))
    },
  )

  test('have the same index keys in a database from before each holder had a key', async () => {
    const ledger = await foundRandomLedger(use, 6)
    for (let step = 0; step < 12; step++) {
      await ledger.book()
      await ledger.commit()
    }
    await ledger.book()
    const held = await storedIndexKeys(use.url)
    for (const kind of ['HOLDER', 'EXPIRING_OWNER', 'STATE_CONTROLLER', 'CHAIN_HOLDER'] as const) {
      expect(held.filter((key) => key.startsWith(`${indexKindToNumber(kind)} `))).not.toEqual([])
    }
    await use.store.write.releaseLease(use.term)
    await onDatabase(use.url, undoHolders)
    expect(await storedIndexKeys(use.url)).not.toEqual(held)
    const store = await openedStore(use.url)
    await store.close()
    expect(await storedIndexKeys(use.url)).toEqual(held)
  })
})

/** Returns all index keys as sorted texts. */
async function storedIndexKeys(url: string): Promise<string[]> {
  const database = unwrap(await databaseOf({ url, wakeUrl: undefined, log: silentLog }))
  const connection = await database.connect()
  try {
    const { hex } = database.statements.dialect
    const columns = `kind, ${hex('value')}, "bookedSlot", ${hex('"outputId"')}`
    const rows = await rowsOf(connection, `SELECT ${columns} FROM index_keys`)
    return rows.map((row) => row.join(' ')).sort()
  } finally {
    await connection.dispose()
    await database.close()
  }
}

/** Counts the rows that the database keeps for outputs while they are unspent. */
async function storedRows(url: string) {
  const database = unwrap(await databaseOf({ url, wakeUrl: undefined, log: silentLog }))
  const connection = await database.connect()
  try {
    const tables = await database.tables.tables(connection, tableNames(database.migrations))
    const count = (name: string) => {
      const table = tables.find((one) => one.name === name)
      return countRows(connection, present(table, name))
    }
    return {
      unspent: await count('unspent_outputs'),
      terms: await count('index_keys'),
      due: await count('due_outputs'),
    }
  } finally {
    await connection.dispose()
    await database.close()
  }
}

function expectedRows({ outputs, committed }: RandomLedger) {
  const unspent = outputs.filter(
    ({ spentSlot = Number.POSITIVE_INFINITY }) => spentSlot > committed(),
  )
  const count = (rows: (one: ModelOutput) => readonly unknown[]) => unspent.flatMap(rows).length
  const reached = committed() + minCommittableAge
  return {
    unspent: unspent.length,
    terms: count(({ outputId, output }) => [
      ...indexKeysOf(outputId, output),
      ...expiringKeysOf(output, reached),
    ]),
    due: count(({ output }) => slotsAwaited(output).filter((slot) => slot > reached)),
  }
}

async function allPages({ read }: Store, filter: UnspentFilter, limit: number) {
  const ids: string[] = []
  for (let after: OutputPosition | undefined; ; ) {
    const page = await read.unspentOutputs({ filter, after, limit })
    ids.push(...page.map(({ outputId }) => outputId))
    after = page.at(-1)
    if (page.length < limit) return ids
  }
}

function matching(ledger: RandomLedger, filter: UnspentFilter): ModelOutput[] {
  const byPlace = (a: ModelOutput, b: ModelOutput) =>
    a.bookedSlot - b.bookedSlot || (a.outputId < b.outputId ? -1 : 1)
  return ledger.outputs
    .filter((output) => matches(output, filter, ledger.committed()))
    .sort(byPlace)
}

function matches(model: ModelOutput, filter: UnspentFilter, committed: number): boolean {
  const { outputId, output, bookedSlot, spentSlot } = model
  const keys = indexKeysOf(outputId, output)
  const named = conditionOf(output, AddressUnlock) ?? conditionOf(output, ImmutableAccount)
  const has = (wanted: OutputKey) =>
    wanted.kind === 'OWNER'
      ? named !== undefined && addressKey(named.address) === wanted.value
      : keys.some(({ kind, value }) => kind === wanted.kind && value === wanted.value)
  const timelock = conditionOf(output, Timelock)?.slot
  const expiration = conditionOf(output, Expiration)?.slot
  const isUnspent =
    filter.asOf === 'BOOKED'
      ? spentSlot === undefined
      : bookedSlot <= committed && (spentSlot === undefined || spentSlot > committed)
  const owner = ownerInSlot(output, Math.max(bookedSlot, committed), minCommittableAge)
  return (
    isUnspent &&
    (filter.heldBy === undefined || owner === filter.heldBy) &&
    (filter.keys ?? []).every(has) &&
    (filter.anyOf === undefined || filter.anyOf.some(has)) &&
    (filter.kinds === undefined || filter.kinds.includes(output.type)) &&
    isFlagMet(filter.hasReturn, conditionOf(output, StorageDepositReturn) !== undefined) &&
    isFlagMet(filter.hasToken, featureOf(output, NativeToken) !== undefined) &&
    isFlagMet(filter.hasTimelock, timelock !== undefined) &&
    isFlagMet(filter.hasExpiration, expiration !== undefined) &&
    isWithin(filter.timelocked, timelock) &&
    isWithin(filter.expires, expiration) &&
    isWithin(filter.created, bookedSlot)
  )
}

function isFlagMet(wanted: boolean | undefined, is: boolean): boolean {
  return wanted === undefined || wanted === is
}

function isWithin(bounds: SlotBounds | undefined, slot: number | undefined): boolean {
  const { after, before } = bounds ?? {}
  if (slot === undefined) return after === undefined && before === undefined
  return (after === undefined || slot > after) && (before === undefined || slot < before)
}

function randomFilter(random: Random, ledger: RandomLedger): UnspentFilter {
  const sometimes = <T>(one: () => T) => (random.between(0, 4) === 0 ? one() : undefined)
  const flag = () => random.between(0, 1) === 0
  const bounds = () => ({
    after: sometimes(() => ledger.committed() + random.between(-10, 10)),
    before: sometimes(() => ledger.committed() + random.between(-10, 10)),
  })
  const start = random.between(0, 3)
  return {
    asOf: flag() ? 'BOOKED' : 'COMMITTED',
    heldBy: start === 0 ? pick(random, keys) : undefined,
    keys: start === 1 ? randomKeys(random, ledger) : sometimes(() => randomKeys(random, ledger)),
    anyOf: start === 2 ? [randomKey(random, ledger), randomKey(random, ledger)] : undefined,
    // The list may be empty, and may contain a kind twice.
    kinds: sometimes(() =>
      [0, pick(random, [0, 1, 2, 3, 4, 5]), 0].slice(pick(random, [0, 0, 1, 3])),
    ),
    hasReturn: sometimes(flag),
    hasToken: sometimes(flag),
    hasTimelock: sometimes(flag),
    hasExpiration: sometimes(flag),
    timelocked: sometimes(bounds),
    expires: sometimes(bounds),
    created: sometimes(bounds),
  }
}

function randomKeys(random: Random, ledger: RandomLedger): OutputKey[] {
  const owner = { kind: 'OWNER', value: pick(random, keys) } as const
  const key = randomKey(random, ledger)
  return pick<OutputKey[]>(random, [[key], [owner], [owner, key], [key, owner]])
}

function randomKey(random: Random, ledger: RandomLedger): IndexKey {
  const some = pick(random, ledger.outputs)
  const chain = indexKeysOf(some.outputId, some.output).find(({ kind }) => kind === 'CHAIN')
  const address = (kind: IndexKey['kind']): IndexKey => ({ kind, value: pick(random, keys) })
  return pick<IndexKey>(random, [
    address('EXPIRING_OWNER'),
    address('STATE_CONTROLLER'),
    address('EXPIRATION_RETURN'),
    address('STORAGE_DEPOSIT_RETURN'),
    address('GOVERNOR'),
    address('SENDER'),
    address('VALIDATOR'),
    { kind: 'TAG', value: '0x01' },
    { kind: 'NATIVE_TOKEN', value: pick(random, randomTokens) },
    chain ?? address('ISSUER'),
  ])
}

function pick<T>(random: Random, list: readonly T[]): T {
  const one = list[random.between(0, list.length - 1)]
  if (one === undefined) throw new Error('nothing to pick')
  return one
}
