import type { Hex } from '../lib/hex.ts'
import { createLargeMap, type LargeMap } from '../lib/large-map.ts'
import { eachInTurns } from '../lib/turns.ts'
import type { Output } from '../protocol/outputs.ts'
import type { FoundryId, SlotIndex } from '../protocol/primitives.ts'
import { type Holding, holdingAt, type Parts, type TokenPart } from './holdings.ts'

/** The balances of addresses, and how a range of slots moves them. */

/** The base tokens of an address. */
export interface Balance extends Parts {
  /** How many unspent outputs hold them. */
  readonly outputs: number
}

/** A native token of an address. */
export type TokenBalance = { readonly [P in TokenPart]: bigint }

/** What an address without outputs owns. */
export const noBalance: Balance = {
  available: 0n,
  timelocked: 0n,
  storageDeposit: 0n,
  expiring: 0n,
  outputs: 0,
}

/** Of a native token that an address does not own. */
export const noTokens: TokenBalance = { available: 0n, timelocked: 0n, expiring: 0n }

/** All base tokens that an address owns, whatever stands between. */
export function totalOf(parts: Parts): bigint {
  return parts.available + parts.timelocked + parts.storageDeposit + parts.expiring
}

/** A holding that an address gains or loses in a slot. */
export interface BalanceMove {
  readonly slot: SlotIndex
  readonly sign: 1 | -1
  readonly holding: Holding
  /** The output was created or spent; it goes from one part to another; it goes to another owner by time alone. */
  readonly cause: 'LEDGER' | 'PART' | 'EXPIRATION_TRANSFER'
}

/** An output and the slots of its life. */
export interface OutputLife {
  readonly output: Output
  readonly bookedSlot: SlotIndex
  readonly spentSlot: SlotIndex | undefined
}

/** What happens to outputs in some slots. An output may be in all three lists. */
export interface OutputEvents {
  readonly created: readonly OutputLife[]
  readonly spent: readonly OutputLife[]
  /** Outputs for which a slot that they await is reached: for each such slot once. */
  readonly due: readonly { readonly life: OutputLife; readonly slot: SlotIndex }[]
}

/**
 * The moves of some slots, the oldest slot first. Within a slot time comes before the ledger, so that what is spent in
 * the slot of its expiration leaves the return address.
 */
export function balanceMoves(
  { minCommittableAge }: { readonly minCommittableAge: number },
  { created, spent, due }: OutputEvents,
): BalanceMove[] {
  const at = (output: Output, slot: SlotIndex) => holdingAt(output, slot + minCommittableAge)
  const moves: BalanceMove[] = []
  for (const { life, slot } of due) {
    if (!isAlive(life, slot)) continue
    const [before, after] = [at(life.output, slot - 1), at(life.output, slot)]
    const cause = before.owner === after.owner ? 'PART' : 'EXPIRATION_TRANSFER'
    moves.push({ slot, sign: -1, holding: before, cause })
    moves.push({ slot, sign: 1, holding: after, cause })
  }
  for (const { output, bookedSlot: slot } of created) {
    moves.push({ slot, sign: 1, holding: at(output, slot), cause: 'LEDGER' })
  }
  for (const { output, spentSlot: slot } of spent) {
    if (slot !== undefined) {
      moves.push({ slot, sign: -1, holding: at(output, slot), cause: 'LEDGER' })
    }
  }
  // Sorting keeps the order of what is equal.
  return moves.sort((a, b) => a.slot - b.slot)
}

/** Whether the output was there before the slot, and not spent before it. */
function isAlive({ bookedSlot, spentSlot }: OutputLife, slot: SlotIndex): boolean {
  return bookedSlot < slot && (spentSlot === undefined || spentSlot >= slot)
}

/** A balance with a holding more, or one less. */
export function moveBalance(balance: Balance, { sign, holding }: BalanceMove): Balance {
  const by = BigInt(sign)
  return {
    available: balance.available + by * holding.available,
    timelocked: balance.timelocked + by * holding.timelocked,
    storageDeposit: balance.storageDeposit + by * holding.storageDeposit,
    expiring: balance.expiring + by * holding.expiring,
    outputs: balance.outputs + sign,
  }
}

/** The same for the native token that the holding has. */
export function moveTokens(balance: TokenBalance, { sign, holding }: BalanceMove): TokenBalance {
  const { token } = holding
  if (token === undefined) return balance
  return { ...balance, [token.part]: balance[token.part] + BigInt(sign) * token.amount }
}

/** A native token under an address, as the key of a map. */
export type TokenKey = `${Hex}:${FoundryId}`

/** The key of the token that a holding has. */
export function tokenKeyOf({ owner, token }: Holding): TokenKey | undefined {
  return token && `${owner}:${token.tokenId}`
}

/** Balances before and after some moves. */
export interface MovedBalances {
  readonly balances: LargeMap<Hex, Balance>
  readonly tokens: ReadonlyMap<TokenKey, TokenBalance>
  /** What each address that moved in a slot owns in all at its end. */
  readonly totals: ReadonlyMap<SlotIndex, LargeMap<Hex, bigint>>
  /** Those of the addresses that an expiration gave an output to, or took one from. */
  readonly expirationTotals: readonly ExpirationTotal[]
}

/** What an address owns in all at the end of a slot in which outputs came or went by time alone. */
export interface ExpirationTotal {
  readonly address: Hex
  readonly slot: SlotIndex
  readonly total: bigint
}

/** Balances that moves begin with; those of addresses that own nothing may be left out. */
export interface BalancesBefore {
  readonly balances: { get(address: Hex): Balance | undefined }
  readonly tokens: ReadonlyMap<TokenKey, TokenBalance>
}

/** Makes the moves, given in the order of slots, on the balances that are there. Linear in the moves; lets the event loop turn. */
export async function applyMoves(
  before: BalancesBefore,
  moves: Iterable<BalanceMove>,
): Promise<MovedBalances> {
  // Those that no move concerns are left out.
  const balances = createLargeMap<Hex, Balance>()
  const tokens = new Map<TokenKey, TokenBalance>()
  const totals = new Map<SlotIndex, LargeMap<Hex, bigint>>()
  const transferred = new Map<string, Omit<ExpirationTotal, 'total'>>()
  await eachInTurns(moves, (move) => {
    const { slot, holding, cause } = move
    const { owner } = holding
    const former = balances.get(owner) ?? before.balances.get(owner) ?? noBalance
    const balance = moveBalance(former, move)
    balances.set(owner, balance)
    const ofSlot = totals.get(slot) ?? createLargeMap<Hex, bigint>()
    totals.set(slot, ofSlot)
    ofSlot.set(owner, totalOf(balance))
    if (cause === 'EXPIRATION_TRANSFER')
      transferred.set(`${owner}:${slot}`, { address: owner, slot })
    const key = tokenKeyOf(holding)
    if (key === undefined) return
    const owned = tokens.get(key) ?? before.tokens.get(key) ?? noTokens
    tokens.set(key, moveTokens(owned, move))
  })
  const expirationTotals = [...transferred.values()].map(({ address, slot }) => ({
    address,
    slot,
    total: totals.get(slot)?.get(address) ?? 0n,
  }))
  return { balances, tokens, totals, expirationTotals }
}
