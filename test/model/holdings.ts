import { chainId } from '../../src/ledger/chains.ts'
import type { IndexKind } from '../../src/ledger/index-keys.ts'
import { conditionOf, featureOf } from '../../src/ledger/output-parts.ts'
import { namedRoles, rolesByAddress } from '../../src/ledger/updates.ts'
import type { Hex } from '../../src/lib/hex.ts'
import { NativeToken, Tag } from '../../src/protocol/features.ts'
import { addressKey, transactionOf } from '../../src/protocol/ids.ts'
import type { Output } from '../../src/protocol/outputs.ts'
import {
  AddressUnlock,
  Expiration,
  StorageDepositReturn,
  Timelock,
} from '../../src/protocol/unlock-conditions.ts'
import { indexKindToNumber } from '../../src/store/values.ts'
import { balancesAt, ownerInSlot, unspentAt } from '../support/balance-model.ts'
import type { Differences } from './differences.ts'
import { countsOf, groupBy } from './lists.ts'
import type { BookedOutput, StoredLedger } from './stored-ledger.ts'
import type { TableRow, Tables } from './tables.ts'

/** The tables that follow from the outputs: balances, the index of unspent outputs, and the states of chains. */

/** Compares them all. */
export async function compareHoldings(
  ledger: StoredLedger,
  outputs: readonly BookedOutput[],
  tables: Tables,
  differ: Differences,
): Promise<void> {
  await compareBalances(ledger, outputs, tables, differ)
  await compareIndex(ledger, outputs, tables, differ)
  await compareDue(ledger, outputs, tables, differ)
  await compareChains(ledger, outputs, tables, differ)
}

async function compareBalances(
  { parameters, committed }: StoredLedger,
  outputs: readonly BookedOutput[],
  tables: Tables,
  differ: Differences,
): Promise<void> {
  const balances = balancesAt(outputs, committed, parameters.minCommittableAge)
  const expected = new Map<string, unknown>()
  const expectedTokens = new Map<string, unknown>()
  let supply = 0n
  for (const [address, { tokens, ...balance }] of balances) {
    expected.set(address, balance)
    supply += balance.total
    for (const [token, held] of Object.entries(tokens)) {
      const total = held.available + held.timelocked + held.expiring
      expectedTokens.set(`${token} of ${address}`, { ...held, total })
    }
  }
  differ.equal('the supply of base tokens', supply, parameters.tokenSupply)
  const actual = new Map<string, unknown>()
  for (const row of await tables.rows('balances')) {
    actual.set(row.hex('address'), {
      ...bigs(row, 'total', 'available', 'timelocked', 'storageDeposit', 'expiring'),
      outputs: row.number('outputs'),
    })
  }
  differ.equalMaps('balance of', actual, expected)
  const actualTokens = new Map<string, unknown>()
  for (const row of await tables.rows('token_balances')) {
    const amount = (column: string) => BigInt(row.hex(column))
    actualTokens.set(`${row.hex('tokenId')} of ${row.hex('address')}`, {
      available: amount('available'),
      timelocked: amount('timelocked'),
      expiring: amount('expiring'),
      total: amount('total'),
    })
  }
  differ.equalMaps('token', actualTokens, expectedTokens)
}

function bigs(row: TableRow, ...columns: readonly string[]): Record<string, bigint> {
  return Object.fromEntries(columns.map((column) => [column, row.big(column)]))
}

/** Compares the unspent outputs, including those that are booked but not committed yet. */
async function compareIndex(
  ledger: StoredLedger,
  outputs: readonly BookedOutput[],
  tables: Tables,
  differ: Differences,
): Promise<void> {
  const { committed } = ledger
  const unspent = outputs.filter(({ spentSlot }) => (spentSlot ?? committed + 1) > committed)
  const expected = unspent.map(({ outputId, output, bookedSlot }) => {
    const columns = {
      kind: output.type,
      bookedSlot,
      timelockSlot: conditionOf(output, Timelock)?.slot,
      expirationSlot: conditionOf(output, Expiration)?.slot,
      hasReturn: conditionOf(output, StorageDepositReturn) !== undefined,
      hasToken: featureOf(output, NativeToken) !== undefined,
    }
    return [outputId, columns] as const
  })
  const optional = (row: TableRow, column: string) =>
    row.isNull(column) ? undefined : row.number(column)
  const actual = (await tables.rows('unspent_outputs')).map((row) => {
    const columns = {
      kind: row.number('kind'),
      bookedSlot: row.number('bookedSlot'),
      timelockSlot: optional(row, 'timelockSlot'),
      expirationSlot: optional(row, 'expirationSlot'),
      hasReturn: row.flag('hasReturn'),
      hasToken: row.flag('hasToken'),
    }
    return [row.hex('outputId'), columns] as const
  })
  differ.equalMaps<unknown>('unspent output', new Map(actual), new Map(expected))
  const keys = (await tables.rows('index_keys')).map((row) =>
    [row.number('kind'), row.hex('value'), row.number('bookedSlot'), row.hex('outputId')].join(' '),
  )
  const expectedKeys = unspent.flatMap((one) => indexKeysOf(ledger, one))
  differ.equalMaps('index key', countsOf(keys), countsOf(expectedKeys))
  const counts = (await tables.rows('output_counts')).map(
    (row) => [`${row.number('kind')}`, row.number('outputs')] as const,
  )
  const alive = unspentAt(outputs, committed)
  const counted = counts.map(([kind]) => {
    return [kind, alive.filter(({ output }) => `${output.type}` === kind).length] as const
  })
  differ.equalMaps('number of outputs of type', new Map(counts), new Map(counted))
}

function indexKeysOf({ parameters, committed }: StoredLedger, one: BookedOutput): string[] {
  const { outputId, output, bookedSlot } = one
  const keys = new Set<string>()
  const add = (kind: IndexKind, value: Hex) =>
    keys.add([indexKindToNumber(kind), value, bookedSlot, outputId].join(' '))
  const slot = Math.max(committed, bookedSlot)
  const holder = ownerInSlot(output, slot, parameters.minCommittableAge)
  add('HOLDER', holder)
  if (output.type !== 0 && output.type !== 2) {
    add('CHAIN_HOLDER', `0x0${output.type}${holder.slice(2)}`)
  }
  const mayExpire = conditionOf(output, Expiration) !== undefined
  for (const [address, roles] of rolesByAddress(output)) {
    for (const role of roles) {
      if (role !== 'OWNER') add(role, address)
      else if (mayExpire) add('EXPIRING_OWNER', address)
    }
  }
  for (const { address } of namedRoles(output)) {
    const multi = address.type === 48 ? address.address : address
    if (multi.type !== 40) continue
    for (const member of multi.addresses) {
      add('MULTI_OF_MEMBER', `${addressKey(member.address)}${addressKey(multi).slice(2)}`)
    }
  }
  const tag = featureOf(output, Tag)?.tag
  if (tag !== undefined) add('TAG', tag)
  const token = featureOf(output, NativeToken)?.id
  if (token !== undefined) add('NATIVE_TOKEN', token)
  if (isChain(output)) add('CHAIN', chainId(output, outputId) as Hex)
  return [...keys]
}

/** Whether an output is a state of a chain: every output but a basic one that is no implicit account. */
export function isChain(output: Output): boolean {
  return output.type !== 0 || conditionOf(output, AddressUnlock)?.address.type === 32
}

/** Compares the slots at which timelocks and expirations end. Rows of slots that have passed may remain. */
async function compareDue(
  { parameters, committed }: StoredLedger,
  outputs: readonly BookedOutput[],
  tables: Tables,
  differ: Differences,
): Promise<void> {
  const reached = committed + parameters.minCommittableAge
  const expected = outputs
    .filter(({ spentSlot }) => (spentSlot ?? committed + 1) > committed)
    .flatMap(({ output, outputId }) =>
      [conditionOf(output, Timelock)?.slot, conditionOf(output, Expiration)?.slot]
        .filter((slot) => slot !== undefined && slot > reached)
        .map((slot) => `${slot} of ${outputId}`),
    )
  const rows = (await tables.rows('due_outputs')).filter((row) => row.number('slot') > reached)
  const actual = rows.map((row) => `${row.number('slot')} of ${row.hex('outputId')}`)
  differ.equalMaps('due slot', countsOf([...new Set(actual)]), countsOf([...new Set(expected)]))
}

/** The committed states of every chain, in their order. */
export function chainStates(
  { committed }: StoredLedger,
  outputs: readonly BookedOutput[],
): Map<Hex, BookedOutput[]> {
  const committedOnes = outputs.filter(
    ({ bookedSlot, output }) => bookedSlot <= committed && isChain(output),
  )
  const groups = groupBy(committedOnes, ({ output, outputId }) => chainId(output, outputId) as Hex)
  return new Map([...groups].map(([id, states]) => [id, inSpendingOrder(states)]))
}

/** By the slot in which outputs were booked, and then by their ids. */
export function inBookedOrder(outputs: readonly BookedOutput[]): BookedOutput[] {
  return outputs.toSorted(
    (a, b) => a.bookedSlot - b.bookedSlot || (a.outputId < b.outputId ? -1 : 1),
  )
}

/** Each state follows the one that its transaction spends. */
function inSpendingOrder(states: readonly BookedOutput[]): BookedOutput[] {
  const created = new Map(states.map((one) => [transactionOf(one.outputId), one]))
  const spenders = new Set(states.map(({ spentBy }) => spentBy))
  let next = states.find((one) => !spenders.has(transactionOf(one.outputId)))
  const ordered: BookedOutput[] = []
  while (next !== undefined) {
    ordered.push(next)
    next = next.spentBy && created.get(next.spentBy)
  }
  return ordered
}

async function compareChains(
  ledger: StoredLedger,
  outputs: readonly BookedOutput[],
  tables: Tables,
  differ: Differences,
): Promise<void> {
  const expected = [...chainStates(ledger, outputs)].map(([id, states]) => {
    const rows = states.map(({ output, outputId, bookedSlot }, i) => {
      return { ordinal: i + 1, kind: output.type || 1, bookedSlot, outputId }
    })
    return [id, rows] as const
  })
  const rows = await tables.rows('chain_states', 'chainId', 'ordinal')
  const actual = [...groupBy(rows, (row) => row.hex('chainId'))].map(([id, states]) => {
    const read = states.map((row) => ({
      ordinal: row.number('ordinal'),
      kind: row.number('kind'),
      bookedSlot: row.number('bookedSlot'),
      outputId: row.hex('outputId'),
    }))
    return [id, read] as const
  })
  differ.equalMaps<unknown>('states of chain', new Map(actual), new Map(expected))
}
