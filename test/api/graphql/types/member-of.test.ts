import { describe, expect, test } from 'vitest'
import { multiAddressesIn } from '../../../../src/ledger/index-keys.ts'
import { present } from '../../../../src/lib/assert.ts'
import { type Hex, hexToBytes } from '../../../../src/lib/hex.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import { developmentParameters } from '../../../../src/node/embedded/development-parameters.ts'
import type { LedgerSource } from '../../../../src/node/source.ts'
import { encodeBech32 } from '../../../../src/protocol/bech32.ts'
import { addressKey } from '../../../../src/protocol/ids.ts'
import { networkOf } from '../../../../src/protocol/network.ts'
import { databaseOf } from '../../../../src/store/connect.ts'
import type { Store } from '../../../../src/store/contract.ts'
import { rowsOf } from '../../../../src/store/sql/tables.ts'
import { indexKindToNumber } from '../../../../src/store/values.ts'
import { databases, onDatabase, openedStore, useStore } from '../../../support/databases.ts'
import { askSchema } from '../../../support/graphql.ts'
import { unwrap } from '../../../support/log-store.ts'
import { foundRandomLedger, type RandomLedger } from '../../../support/random-ledger.ts'
import { randomOwners } from '../../../support/random-outputs.ts'

/** The multi addresses of a member, and their contents. */

const parameters = developmentParameters(0)
const source = { network: networkOf(parameters) } as LedgerSource
const bech32 = (key: Hex) => encodeBech32('tst', hexToBytes(key))
const members = randomOwners.slice(0, 6).map((address) => addressKey(address))
const kind = indexKindToNumber('MULTI_OF_MEMBER')

function ask(store: Store, address: Hex, fields: string) {
  const query = `query ($address: String!) { address(address: $address) { ${fields} } }`
  return askSchema({ store, source, parameters }, query, { address: bech32(address) })
}

/** Returns the references of the multi addresses that unspent outputs name, by member. */
function multisByMember({ outputs, committed }: RandomLedger): ReadonlyMap<Hex, Hex[]> {
  const unspent = outputs.filter(
    ({ bookedSlot, spentSlot = Number.POSITIVE_INFINITY }) =>
      bookedSlot <= committed() && spentSlot > committed(),
  )
  const named = unspent.flatMap(({ output }) => [...multiAddressesIn(output)])
  const multis = [...new Map(named)].sort(([a], [b]) => (a < b ? -1 : 1))
  return new Map(
    members.map((member) => {
      const own = multis.filter(([, { addresses }]) =>
        addresses.some(({ address }) => addressKey(address) === member),
      )
      return [member, own.map(([reference]) => reference)]
    }),
  )
}

async function movedLedger(use: Parameters<typeof foundRandomLedger>[0], seed: number) {
  const ledger = await foundRandomLedger(use, seed)
  for (let step = 0; step < 12; step++) {
    for (let times = 0; times < 4; times++) await ledger.book()
    await ledger.commit()
  }
  await ledger.book()
  return ledger
}

describe.each(databases)('the multi addresses of a member on $name', ({ create }) => {
  const use = useStore(create)

  test('are those of unspent outputs, in pages of both directions, with their contents', async () => {
    const ledger = await foundRandomLedger(use, 7)
    const counts = new Set<number>()
    for (let step = 0; step < 15; step++) {
      for (let times = 0; times < 4; times++) await ledger.book()
      await ledger.commit()
      await ledger.book()
      for (const [member, expected] of multisByMember(ledger)) {
        const page =
          'nodes { bech32 } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }'
        const { data } = await ask(
          use.store,
          member,
          `all: memberOf { nodes { bech32 kind content { ... on MultiAddress { addresses { address { bech32 } } } } } }
            first: memberOf(first: 1) { ${page} } last: memberOf(last: 1) { ${page} }`,
        )
        const { all, first, last } = data.address
        expect(all.nodes.map((node: { bech32: string }) => node.bech32)).toEqual(
          expected.map(bech32),
        )
        for (const { kind: kindOfNode, content } of all.nodes) {
          expect(kindOfNode).toBe('MULTI')
          expect(content.addresses.map((one: Member) => one.address.bech32)).toContain(
            bech32(member),
          )
        }
        const info = { hasNextPage: expected.length > 1, hasPreviousPage: false }
        expect(first).toMatchObject({ nodes: all.nodes.slice(0, 1).map(textOf), pageInfo: info })
        const [after, before] = [first.pageInfo.endCursor, last.pageInfo.startCursor]
        if (after !== null) {
          const others = `rest: memberOf(after: "${after}") { nodes { bech32 } }
            former: memberOf(last: 1000, before: "${before}") { nodes { bech32 } }`
          expect((await ask(use.store, member, others)).data.address).toEqual({
            rest: { nodes: all.nodes.slice(1).map(textOf) },
            former: { nodes: all.nodes.slice(0, -1).map(textOf) },
          })
        }
        counts.add(expected.length)
      }
    }
    expect([...counts].sort()).toEqual([0, 1, 2])
  })

  test('are the same in a database from before they were indexed', async () => {
    await movedLedger(use, 8)
    const held = await storedKeys(use.url)
    expect(held.length).toBeGreaterThan(10)
    await use.store.write.releaseLease(use.term)
    await onDatabase(
      use.url,
      `DELETE FROM index_keys WHERE kind = ${kind};
      DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_multis_of_members'`,
    )
    expect(await storedKeys(use.url)).toEqual([])
    await (await openedStore(use.url)).close()
    expect(await storedKeys(use.url)).toEqual(held)
  })

  test('refuse a page size and a cursor that they do not have', async () => {
    await movedLedger(use, 9)
    const member = present(members[3], 'a member')
    for (const [args, code] of [
      ['first: 1001', 'PAGE_SIZE_OUT_OF_RANGE'],
      ['after: "x"', 'CURSOR_MALFORMED'],
    ]) {
      const { errors } = await ask(use.store, member, `memberOf(${args}) { nodes { bech32 } }`)
      expect(errors?.map(({ extensions }) => extensions.code)).toEqual([code])
    }
  })

  test('are read with their contents in few statements', async () => {
    await movedLedger(use, 10)
    const { read } = use.store
    let statements = 0
    const counted = new Proxy(read, {
      get(target, name, receiver) {
        const value = Reflect.get(target, name, receiver)
        if (name !== 'outputsNamingMultis') return value
        return (...args: unknown[]) => {
          statements++
          return value(...args)
        }
      },
    })
    const aliases = members.map(
      (_member, n) =>
        `a${n}: address(address: $a${n}) { memberOf { nodes { content { __typename } } } }`,
    )
    const declared = members.map((_member, n) => `$a${n}: String!`).join(', ')
    const variables = Object.fromEntries(members.map((member, n) => [`a${n}`, bech32(member)]))
    const { errors } = await askSchema(
      { store: { ...use.store, read: counted }, source, parameters },
      `query (${declared}) { ${aliases.join('\n')} }`,
      variables,
    )
    expect(errors).toBeUndefined()
    // Once by the executor, once as compiled code.
    expect(statements).toBe(2)
  })
})

interface Member {
  readonly address: { readonly bech32: string }
}

const textOf = ({ bech32: text }: { readonly bech32: string }) => ({ bech32: text })

/** Returns the index keys of members with their multi addresses as sorted texts. */
async function storedKeys(url: string): Promise<string[]> {
  const database = unwrap(await databaseOf({ url, wakeUrl: undefined, log: silentLog }))
  const connection = await database.connect()
  try {
    const { hex } = database.statements.dialect
    const columns = `${hex('value')}, "bookedSlot", ${hex('"outputId"')}`
    const rows = await rowsOf(connection, `SELECT ${columns} FROM index_keys WHERE kind = ${kind}`)
    return rows.map((row) => row.join(' ')).sort()
  } finally {
    await connection.dispose()
    await database.close()
  }
}
