/** A pseudo-random generator that returns the same values in every run. */
export interface Random {
  /** An integer from `least` to `most`, both inclusive. */
  between(least: number, most: number): number
  /** The elements in random order. */
  shuffled<T>(list: readonly T[]): T[]
}

/** Creates a generator from a seed: a linear congruential generator, which is sufficient for tests. */
export function createRandom(seed: number): Random {
  let state = BigInt(seed)

  function next(): number {
    state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n)
    return Number(state >> 32n) / 2 ** 32
  }

  function between(least: number, most: number): number {
    return least + Math.floor(next() * (most - least + 1))
  }

  function shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((element) => ({ element, at: next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ element }) => element)
  }

  return { between, shuffled }
}
