import type {
  Balance as BalanceModel,
  TokenBalance as TokenBalanceModel,
} from '../../generated/prisma/client.ts'
import { type BalanceRange, rangeMoves } from '../../ledger/balance-ranges.ts'
import {
  type Balance,
  type BalanceMove,
  type MovedBalances,
  type OwnerAt,
  type TokenBalance,
  type TokenKey,
  tokenKeyOf,
  totalOf,
} from '../../ledger/balances-of-address.ts'
import type { Holding } from '../../ledger/holdings.ts'
import { assert } from '../../lib/assert.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { createLargeMap } from '../../lib/large-map.ts'
import { eachInTurns, inTurns } from '../../lib/turns.ts'
import type { FoundryId, SlotIndex } from '../../protocol/primitives.ts'
import { inChunks, inSmallChunks } from '../in-chunks.ts'
import * as table from '../sql/bulk-tables.ts'
import type { RawWriting } from '../sql/statements.ts'
import { bytesToUint256, idFromBytes, uint256ToHex } from '../values.ts'

type BalanceRow = table.RowIn<typeof table.balances>
type TokenBalanceRow = table.RowIn<typeof table.tokenBalances>

/** A native token of an address. */
export interface OwnedToken {
  readonly address: Hex
  readonly tokenId: FoundryId
}

/** Reads the rows of balances that moves affect, and writes the new balances. */

/** Balances before moves. Addresses that own nothing are omitted. */
export type BalancesBefore = Pick<MovedBalances, 'balances' | 'tokens'>

/** The addresses and tokens whose balances moves affect. */
export interface ConcernedBalances {
  owners(): Iterable<Hex>
  readonly tokens: ReadonlyMap<TokenKey, OwnedToken>
}

/** Reads the balances before some moves. */
export async function balancesBefore(
  writing: RawWriting,
  { owners, tokens }: ConcernedBalances,
): Promise<BalancesBefore> {
  const { tx, sql } = writing
  const balances = createLargeMap<Hex, Balance>()
  await inChunks([...owners()], async (some) => {
    const addresses = some.map((address) => ({ address }))
    const rows = await sql.select<BalanceModel, { address: Hex }>(
      tx,
      table.balanceAddresses,
      addresses,
    )
    await eachInTurns(rows, (row) => balances.set(bytesToHex(row.address), toBalance(row)))
  })
  return { balances, tokens: await tokensBefore(writing, tokens) }
}

/** Reads the balances of native tokens before some moves. */
export async function tokensBefore(
  { tx, sql }: RawWriting,
  owned: ReadonlyMap<TokenKey, OwnedToken>,
): Promise<BalancesBefore['tokens']> {
  const tokens = new Map<TokenKey, TokenBalance>()
  await inChunks([...owned.values()], async (some) => {
    for (const row of await sql.select<TokenBalanceModel, OwnedToken>(
      tx,
      table.ownedTokens,
      some,
    )) {
      const key: TokenKey = `${bytesToHex(row.address)}:${idFromBytes<'FoundryId'>(row.tokenId)}`
      tokens.set(key, toTokenBalance(row))
    }
  })
  return tokens
}

/** Converts the base tokens of an address. */
export function toBalance(row: Omit<BalanceModel, 'address' | 'total'>): Balance {
  return {
    available: row.available,
    timelocked: row.timelocked,
    storageDeposit: row.storageDeposit,
    expiring: row.expiring,
    outputs: Number(row.outputs),
  }
}

/** Converts a native token of an address. */
export function toTokenBalance(
  row: Pick<TokenBalanceModel, 'available' | 'timelocked' | 'expiring'>,
): TokenBalance {
  return {
    available: bytesToUint256(row.available),
    timelocked: bytesToUint256(row.timelocked),
    expiring: bytesToUint256(row.expiring),
  }
}

/** Returns the native tokens of some moves. */
export function tokensOf(moves: Iterable<BalanceMove>): ReadonlyMap<TokenKey, OwnedToken> {
  const tokens = new Map<TokenKey, OwnedToken>()
  for (const { holding } of moves) addToken(tokens, holding)
  return tokens
}

/** Adds the native token of a holding, if it has one. */
export function addToken(tokens: Map<TokenKey, OwnedToken>, holding: Holding): void {
  const key = tokenKeyOf(holding)
  if (key !== undefined && holding.token !== undefined) {
    tokens.set(key, { address: holding.owner, tokenId: holding.token.tokenId })
  }
}

/** Adds gains to the balances of addresses. */
export async function addBaseTokens(
  { tx, sql }: RawWriting,
  gains: Iterable<readonly [Hex, Balance]>,
): Promise<void> {
  const rows = [...gains].map(([address, gain]) => balanceRow(address, gain))
  // Sorted by the key of the table, so that each database page is changed once.
  rows.sort((a, b) => (a.address < b.address ? -1 : 1))
  await inSmallChunks(rows, (some) => sql.add(tx, table.balances, some))
}

/** Replaces balances. Deletes the row of an address without outputs. */
export async function writeBalances(
  writing: RawWriting,
  before: BalancesBefore,
  moved: MovedBalances,
): Promise<void> {
  await writeBaseTokens(writing, moved.balances)
  await writeNativeTokens(writing, moved.tokens)
  await moveRanges(writing, await inTurns(rangeMoves(before.balances, moved.balances)))
}

/** Writes the totals of the addresses that gained or lost an output by expiration in a slot. An address may be named twice. */
export async function writeExpirationTotals(
  { tx, sql }: RawWriting,
  transferred: readonly OwnerAt[],
  totalAt: (address: Hex, slot: SlotIndex) => bigint | undefined,
): Promise<void> {
  await inChunks(transferred, async (some) => {
    const rows = some.map(({ address, slot }) => {
      return [`${address}:${slot}`, { address, slot, total: totalAt(address, slot) ?? 0n }] as const
    })
    await sql.put(tx, table.expirationTransfers, [...new Map(rows).values()])
  })
}

async function writeBaseTokens(
  { tx, sql }: RawWriting,
  balances: Iterable<readonly [Hex, Balance]>,
): Promise<void> {
  await inChunks([...balances], async (some) => {
    const rows = some.map(([address, balance]) => balanceRow(address, balance))
    const [owning, empty] = [rows.filter(owns), rows.filter((row) => !owns(row))]
    for (const row of empty) assert(row.total === 0n, `${row.address} owns nothing without outputs`)
    if (owning.length > 0) await sql.put(tx, table.balances, owning)
    if (empty.length > 0) await sql.remove(tx, table.balanceAddresses, empty)
  })
}

function owns({ outputs }: BalanceRow): boolean {
  return outputs > 0
}

function balanceRow(address: Hex, balance: Balance): BalanceRow {
  const total = totalOf(balance)
  assert(total >= 0n && total >> 63n === 0n, `the balance of ${address} has 63 bits`)
  return { address, total, ...balance }
}

/** Replaces balances of native tokens. Deletes the row of a balance of 0. */
export async function writeNativeTokens(
  { tx, sql }: RawWriting,
  tokens: ReadonlyMap<TokenKey, TokenBalance>,
): Promise<void> {
  const rows = [...tokens].map(([key, balance]) => ({ ...ownedTokenOf(key), balance }))
  const isEmpty = ({ balance }: (typeof rows)[number]) =>
    Object.values(balance).every((amount) => amount === 0n)
  const owning = rows.filter((row) => !isEmpty(row)).map(tokenBalanceRow)
  await inChunks(owning, (some) => sql.put(tx, table.tokenBalances, some))
  await inChunks(rows.filter(isEmpty), (some) => sql.remove(tx, table.ownedTokens, some))
}

function ownedTokenOf(key: TokenKey): OwnedToken {
  const [address, tokenId] = key.split(':') as [Hex, FoundryId]
  return { address, tokenId }
}

function tokenBalanceRow({
  address,
  tokenId,
  balance,
}: OwnedToken & { readonly balance: TokenBalance }): TokenBalanceRow {
  return {
    address,
    tokenId,
    available: uint256ToHex(balance.available),
    timelocked: uint256ToHex(balance.timelocked),
    expiring: uint256ToHex(balance.expiring),
    total: uint256ToHex(balance.available + balance.timelocked + balance.expiring),
  }
}

/** Updates the balance ranges. Deletes the row of a range without addresses. */
async function moveRanges({ tx, sql }: RawWriting, moves: readonly BalanceRange[]): Promise<void> {
  if (moves.length === 0) return
  await sql.add(tx, table.balanceRanges, moves)
  if (moves.some(({ addresses }) => addresses < 0)) {
    await tx.$executeRawUnsafe('DELETE FROM balance_ranges WHERE addresses = 0')
  }
}
