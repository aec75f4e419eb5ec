import type { Hex } from '../lib/hex.ts'
import { createLargeMap, type LargeMap } from '../lib/large-map.ts'
import { eachInTurns } from '../lib/turns.ts'
import type { Output } from '../protocol/outputs.ts'
import type { FoundryId, SlotIndex } from '../protocol/primitives.ts'
import { type Holding, holdingAt, type Parts, type TokenPart } from './holdings.ts'

/** The balances of addresses, and the changes of balances by a range of slots. */

/** The base tokens of an address. */
export interface Balance extends Parts {
  /** Number of unspent outputs that hold the base tokens. */
  readonly outputs: number
}

/** A native token of an address. */
export type TokenBalance = { readonly [P in TokenPart]: bigint }

/** The balance of an address without outputs. */
export const noBalance: Balance = {
  available: 0n,
  timelocked: 0n,
  storageDeposit: 0n,
  expiring: 0n,
  outputs: 0,
}

/** The balance of a native token that an address does not own. */
export const noTokens: TokenBalance = { available: 0n, timelocked: 0n, expiring: 0n }

/** All base tokens that an address owns, spendable or not. */
export function totalOf(parts: Parts): bigint {
  return parts.available + parts.timelocked + parts.storageDeposit + parts.expiring
}

/** A holding that an address gains or loses in a slot. */
export interface BalanceMove {
  readonly slot: SlotIndex
  readonly sign: 1 | -1
  readonly holding: Holding
  /** LEDGER: the output is created or spent. PART: it moves to another part. EXPIRATION_TRANSFER: it gets another owner by expiration. */
  readonly cause: 'LEDGER' | 'PART' | 'EXPIRATION_TRANSFER'
}

/** An output, and the slots that booked and spent it. */
export interface OutputSpan {
  readonly output: Output
  readonly bookedSlot: SlotIndex
  readonly spentSlot: SlotIndex | undefined
}

/** The events of outputs in some slots. An output may be in all three lists. */
export interface OutputEvents {
  readonly created: readonly OutputSpan[]
  readonly spent: readonly OutputSpan[]
  /** Outputs whose timelock or expiration slot is reached, once per such slot. */
  readonly due: readonly { readonly span: OutputSpan; readonly slot: SlotIndex }[]
}

/**
 * Returns the moves of some slots, oldest slot first. Within a slot, moves by time precede moves by the ledger, so that an output that
 * is spent in the slot of its expiration leaves the return address.
 */
export function balanceMoves(
  { minCommittableAge }: { readonly minCommittableAge: number },
  { created, spent, due }: OutputEvents,
): BalanceMove[] {
  const at = (output: Output, slot: SlotIndex) => holdingAt(output, slot + minCommittableAge)
  const moves: BalanceMove[] = []
  for (const { span, slot } of due) {
    if (!wasUnspent(span, slot)) continue
    const [before, after] = [at(span.output, slot - 1), at(span.output, slot)]
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
  // The sort is stable: moves of one slot keep their order.
  return moves.sort((a, b) => a.slot - b.slot)
}

/** Whether the output was created before the slot, and not spent before it. */
function wasUnspent({ bookedSlot, spentSlot }: OutputSpan, slot: SlotIndex): boolean {
  return bookedSlot < slot && (spentSlot === undefined || spentSlot >= slot)
}

/** Adds a holding to a balance, or subtracts it. */
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

/** Adds the native token of a holding to a balance, or subtracts it. */
export function moveTokens(balance: TokenBalance, { sign, holding }: BalanceMove): TokenBalance {
  const { token } = holding
  if (token === undefined) return balance
  return { ...balance, [token.part]: balance[token.part] + BigInt(sign) * token.amount }
}

/** A map key for a native token of an address. */
export type TokenKey = `${Hex}:${FoundryId}`

/** The map key of the native token of a holding; `undefined` without a native token. */
export function tokenKeyOf({ owner, token }: Holding): TokenKey | undefined {
  return token && `${owner}:${token.tokenId}`
}

/** Balances before and after some moves. */
export interface MovedBalances {
  readonly balances: LargeMap<Hex, Balance>
  readonly tokens: ReadonlyMap<TokenKey, TokenBalance>
  /** The total of each address with a move in a slot, at the end of the slot. */
  readonly totals: ReadonlyMap<SlotIndex, LargeMap<Hex, bigint>>
  /** The addresses that gained or lost an output by expiration. */
  readonly transferred: readonly OwnerAt[]
}

/** An address that gained or lost an output by expiration in a slot. */
export interface OwnerAt {
  readonly address: Hex
  readonly slot: SlotIndex
}

/** The total of such an address at the end of the slot. */
export interface ExpirationTotal extends OwnerAt {
  readonly total: bigint
}

/** Balances before moves. Addresses that own nothing may be missing. */
export interface BalancesBefore {
  readonly balances: { get(address: Hex): Balance | undefined }
  readonly tokens: ReadonlyMap<TokenKey, TokenBalance>
}

/** Applies moves, in the order of slots, to balances. Linear in the moves; yields to the event loop. */
export async function applyMoves(
  before: BalancesBefore,
  moves: Iterable<BalanceMove>,
): Promise<MovedBalances> {
  // Holds only balances that a move changes.
  const balances = createLargeMap<Hex, Balance>()
  const tokens = new Map<TokenKey, TokenBalance>()
  const totals = new Map<SlotIndex, LargeMap<Hex, bigint>>()
  const transferred = new Map<string, OwnerAt>()
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
  return { balances, tokens, totals, transferred: [...transferred.values()] }
}
