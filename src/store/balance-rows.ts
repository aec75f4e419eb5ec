import type {
  Balance as BalanceModel,
  TokenBalance as TokenBalanceModel,
} from '../generated/prisma/client.ts'
import { type BalanceRange, rangeMoves } from '../ledger/balance-ranges.ts'
import {
  type Balance,
  type BalanceMove,
  type MovedBalances,
  type TokenBalance,
  type TokenKey,
  tokenKeyOf,
  totalOf,
} from '../ledger/balances-of-address.ts'
import { assert } from '../lib/assert.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { mapInTurns } from '../lib/turns.ts'
import type { FoundryId } from '../protocol/primitives.ts'
import { inChunks, inPieces } from './in-chunks.ts'
import { toBalance, toTokenBalance } from './mapping.ts'
import * as table from './sql/bulk-tables.ts'
import type { RawWriting, Writing } from './sql/statements.ts'
import { idFromBytes, uint256ToHex } from './values.ts'

type BalanceRow = table.RowIn<typeof table.balances>
type TokenBalanceRow = table.RowIn<typeof table.tokenBalances>

/** A native token under an address. */
interface OwnedToken {
  readonly address: Hex
  readonly tokenId: FoundryId
}

/** The rows of balances: reads those that some moves concern, and writes what the moves make of them. */

/** Balances that moves begin with; those of addresses that own nothing are left out. */
export type BalancesBefore = Pick<MovedBalances, 'balances' | 'tokens'>

/** The balances that some moves begin with. */
export async function balancesBefore(
  writing: RawWriting,
  moves: readonly BalanceMove[],
): Promise<BalancesBefore> {
  const { tx, sql } = writing
  const balances = new Map<Hex, Balance>()
  const owners = new Set(moves.map(({ holding }) => holding.owner))
  const addresses = [...owners].map((address) => ({ address }))
  await inChunks(addresses, async (some) => {
    for (const row of await sql.select<BalanceModel, { address: Hex }>(
      tx,
      table.balanceAddresses,
      some,
    )) {
      balances.set(bytesToHex(row.address), toBalance(row))
    }
  })
  return { balances, tokens: await tokensBefore(writing, moves) }
}

/** The native tokens that some moves begin with. */
export async function tokensBefore(
  { tx, sql }: RawWriting,
  moves: readonly BalanceMove[],
): Promise<BalancesBefore['tokens']> {
  const tokens = new Map<TokenKey, TokenBalance>()
  const owned = new Map<TokenKey, OwnedToken>()
  for (const { holding } of moves) {
    const key = tokenKeyOf(holding)
    if (key !== undefined && holding.token !== undefined) {
      owned.set(key, { address: holding.owner, tokenId: holding.token.tokenId })
    }
  }
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

/** Adds to balances what addresses gain. */
export async function addBaseTokens(
  { tx, sql }: RawWriting,
  gains: ReadonlyMap<Hex, Balance>,
): Promise<void> {
  const rows = [...gains].map(([address, gain]) => balanceRow(address, gain))
  // In the order of the table, so that each of its pages is changed once.
  rows.sort((a, b) => (a.address < b.address ? -1 : 1))
  await inPieces(rows, (some) => sql.add(tx, table.balances, some))
}

/** Replaces balances; an address without outputs loses its row. */
export async function writeBalances(
  writing: Writing,
  before: BalancesBefore,
  moved: MovedBalances,
): Promise<void> {
  const { tx, sql } = writing
  await writeBaseTokens(writing, moved.balances)
  await writeNativeTokens(writing, moved.tokens)
  await inChunks(moved.expirationTotals, (some) => sql.insert(tx, table.expirationTransfers, some))
  for (const move of rangeMoves(before.balances, moved.balances)) await moveRange(tx, move)
}

async function writeBaseTokens(
  { tx, sql }: Writing,
  balances: ReadonlyMap<Hex, Balance>,
): Promise<void> {
  const rows = await mapInTurns([...balances], ([address, balance]) => balanceRow(address, balance))
  const [owning, empty] = [rows.filter(owns), rows.filter((row) => !owns(row))]
  for (const row of empty) assert(row.total === 0n, `${row.address} owns nothing without outputs`)
  await inChunks(owning, (some) => sql.put(tx, table.balances, some))
  await inChunks(empty, (some) => sql.remove(tx, table.balanceAddresses, some))
}

function owns({ outputs }: BalanceRow): boolean {
  return outputs > 0
}

function balanceRow(address: Hex, balance: Balance): BalanceRow {
  const total = totalOf(balance)
  assert(total >= 0n && total >> 63n === 0n, `the balance of ${address} has 63 bits`)
  return { address, total, ...balance }
}

/** Replaces balances of native tokens; one that is 0 loses its row. */
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

/** A range without addresses loses its row. */
async function moveRange(tx: Writing['tx'], { exponent, addresses, total }: BalanceRange) {
  const where = { exponent: BigInt(exponent) }
  const former = await tx.balanceRange.findUnique({ where })
  const data = {
    addresses: (former?.addresses ?? 0n) + BigInt(addresses),
    total: (former?.total ?? 0n) + total,
  }
  if (data.addresses === 0n) await tx.balanceRange.deleteMany({ where })
  else await tx.balanceRange.upsert({ where, create: { ...where, ...data }, update: data })
}
