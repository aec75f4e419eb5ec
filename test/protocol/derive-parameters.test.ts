import { describe, expect, test } from 'vitest'
import { type DerivationInput, deriveParameters } from '../../src/protocol/derive-parameters.ts'
import { loadVectors, type Vector } from '../support/vectors.ts'

interface ParametersVector extends Vector {
  readonly parameters: {
    readonly slotDurationInSeconds: number
    readonly slotsPerEpochExponent: number
    readonly tokenSupply: string
    readonly manaParameters: Pick<
      DerivationInput,
      | 'annualDecayFactorPercentage'
      | 'generationRate'
      | 'generationRateExponent'
      | 'decayFactorsExponent'
      | 'decayFactorEpochsSumExponent'
    > & { readonly decayFactors: readonly number[]; readonly decayFactorEpochsSum: number }
    readonly rewardsParameters: {
      readonly rewardToGenerationRatio: number
      readonly bootstrappingDuration: number
      readonly initialTargetRewardsRate: string
      readonly finalTargetRewardsRate: string
    }
  }
}

const standard: DerivationInput = {
  slotDurationInSeconds: 10,
  slotsPerEpochExponent: 13,
  annualDecayFactorPercentage: 70,
  generationRate: 1,
  generationRateExponent: 17,
  decayFactorsExponent: 32,
  decayFactorEpochsSumExponent: 21,
  decayFactorsLimit: 65_535,
  tokenSupply: 1_813_620_509_061_365n,
  rewardToGenerationRatio: 2,
}

describe('derived parameters', () => {
  test('equal the published values', () => {
    const derived = deriveParameters(standard)
    expect(derived.decayFactors.length).toBe(384)
    expect(derived.decayFactors.slice(0, 3)).toEqual([4290989755, 4287015898, 4283045721])
    expect(derived.decayFactors.at(-1)).toBe(3009155056)
    expect(derived).toMatchObject({
      decayFactorEpochsSum: 2262417561,
      decayFactorEpochsSumExponent: 21,
      bootstrappingDuration: 1079,
      initialTargetRewardsRate: 616067521149261n,
      finalTargetRewardsRate: 226702563632670n,
    })
  })

  // The other sets of the file were invented for corner cases, not derived.
  const derivedSets = ['standard', 'devnet', 'lateGenesis', 'dearStorage']
  const vectors = loadVectors<ParametersVector>('semantic-params').filter(({ name }) =>
    derivedSets.includes(name),
  )
  test.each(vectors)('equal the whole table of $name', ({ parameters }) => {
    const { manaParameters: mana, rewardsParameters: rewards } = parameters
    const derived = deriveParameters({
      ...parameters,
      ...mana,
      ...rewards,
      tokenSupply: BigInt(parameters.tokenSupply),
      decayFactorsLimit: 65_535,
    })
    expect(derived).toEqual({
      decayFactors: mana.decayFactors,
      decayFactorEpochsSum: mana.decayFactorEpochsSum,
      decayFactorEpochsSumExponent: mana.decayFactorEpochsSumExponent,
      bootstrappingDuration: rewards.bootstrappingDuration,
      initialTargetRewardsRate: BigInt(rewards.initialTargetRewardsRate),
      finalTargetRewardsRate: BigInt(rewards.finalTargetRewardsRate),
    })
  })

  test('of short epochs have a table that ends at its limit, and a sum of at most 32 bits', () => {
    const derived = deriveParameters({
      ...standard,
      slotDurationInSeconds: 1,
      decayFactorsLimit: 384,
    })
    expect(derived.decayFactors.length).toBe(384)
    expect(derived.decayFactorEpochsSumExponent).toBe(18)
    expect(derived.decayFactorEpochsSum).toBeLessThan(2 ** 32)
    expect(derived.decayFactorEpochsSum).toBeGreaterThan(2 ** 31)
  })
})
