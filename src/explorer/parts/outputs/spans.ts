/** Computes who can spend an output in which slots, if its conditions depend on time. */

interface SpanTerms {
  /** Slot of the timelock: the first slot in which the output can be spent. */
  readonly timelock: number | undefined
  readonly expiration: number | undefined
  /** Number of slots between the oldest and the newest commitment that a transaction may name. */
  readonly ages: number
}

/** `OWNER_OLD`: the owner, but only in a transaction that names an old commitment; newer commitments are past the expiration. */
export type Spender = 'NO_ONE' | 'OWNER' | 'OWNER_OLD' | 'RETURN'

export interface Span {
  /** First slot; `undefined` for the first span. */
  readonly from: number | undefined
  /** Last slot; `undefined` for the last span. */
  readonly until: number | undefined
  readonly who: Spender
}

/** Divides all slots into spans with one spender each. */
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
