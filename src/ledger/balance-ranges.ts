import { paused, type Steps } from '../lib/turns.ts'
import { type Balance, totalOf } from './balances-of-address.ts'

/** How base tokens are distributed: addresses by the power of ten of what they own. */

/** The addresses that own from 10 ^ exponent to ten times that base tokens, the upper end excluded. */
export interface BalanceRange {
  readonly exponent: number
  readonly addresses: number
  /** What they own together. */
  readonly total: bigint
}

interface BalancesOfAll {
  values(): Iterable<Balance>
}

/** By how much moved balances change the ranges; those left as they were are left out. */
export function* rangeMoves(before: BalancesOfAll, after: BalancesOfAll): Steps<BalanceRange[]> {
  const moves = new Map<number, BalanceRange>()
  const add = (balance: Balance, sign: 1 | -1): void => {
    const total = totalOf(balance)
    // An address that owns nothing is not counted.
    if (total === 0n) return
    const exponent = exponentOf(total)
    const former = moves.get(exponent) ?? { exponent, addresses: 0, total: 0n }
    moves.set(exponent, {
      exponent,
      addresses: former.addresses + sign,
      total: former.total + BigInt(sign) * total,
    })
  }
  yield* paused(before.values(), (balance) => add(balance, -1))
  yield* paused(after.values(), (balance) => add(balance, 1))
  return [...moves.values()].filter(({ addresses, total }) => addresses !== 0 || total !== 0n)
}

/** The digits of a number, but one. */
function exponentOf(total: bigint): number {
  return total.toString().length - 1
}
