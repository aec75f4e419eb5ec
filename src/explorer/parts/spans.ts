/** Who may spend an output in which slots, where time decides. */

interface SpanTerms {
  /** The slot in which a timelock ends: the first in which the output may be spent. */
  readonly timelock: number | undefined
  readonly expiration: number | undefined
  /** By how many slots the commitments differ that a transaction may name. */
  readonly ages: number
}

/** `OWNER_OLD`: the owner, and only by a transaction that names an old commitment; the newest ones reach beyond the expiration. */
export type Spender = 'NO_ONE' | 'OWNER' | 'OWNER_OLD' | 'RETURN'

export interface Span {
  /** Its first slot; undefined for the span from the beginning. */
  readonly from: number | undefined
  /** Its last slot; undefined for the span without an end. */
  readonly until: number | undefined
  readonly who: Spender
}

/** All slots in turn, in as few spans as there are different spenders. */
export function spansOf(terms: SpanTerms): readonly Span[] {
  const { timelock, expiration, ages } = terms
  const bounds = [timelock, expiration, expiration && expiration - ages]
    .filter((bound) => bound !== undefined && bound > 0)
    .map(Number)
    .sort((a, b) => a - b)
  const starts = [0, ...bounds].filter((from, n, all) => {
    return n === 0 || (from !== all[n - 1] && spenderAt(from, terms) !== spenderAt(from - 1, terms))
  })
  return starts.map((from, n) => ({
    from: n === 0 ? undefined : from,
    until: starts[n + 1] === undefined ? undefined : Number(starts[n + 1]) - 1,
    who: spenderAt(from, terms),
  }))
}

function spenderAt(slot: number, { timelock, expiration, ages }: SpanTerms): Spender {
  if (timelock !== undefined && slot < timelock) return 'NO_ONE'
  if (expiration === undefined || slot < expiration - ages) return 'OWNER'
  return slot < expiration ? 'OWNER_OLD' : 'RETURN'
}
