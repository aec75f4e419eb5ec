import { paused, type Steps } from '../lib/turns.ts'
import { type Balance, totalOf } from './balances-of-address.ts'

/** The distribution of base tokens: addresses by the power of ten of their total. */

/** The addresses that own at least 10^exponent and less than 10^(exponent + 1) base tokens. */
export interface BalanceRange {
  readonly exponent: number
  readonly addresses: number
  /** Sum of their base tokens. */
  readonly total: bigint
}

interface BalancesOfAll {
  values(): Iterable<Balance>
}

/** The changes of the ranges by changed balances. Unchanged ranges are omitted. */
export function* rangeMoves(before: BalancesOfAll, after: BalancesOfAll): Steps<BalanceRange[]> {
  const moves = new Map<number, BalanceRange>()
  const add = (balance: Balance, sign: 1 | -1): void => {
    const total = totalOf(balance)
    // An address without base tokens is not counted.
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

/** The number of digits minus one. */
function exponentOf(total: bigint): number {
  return total.toString().length - 1
}
