/** Derives the parameters of mana and rewards of a new network from its other parameters (ledger reference 7.3). */

/** The input of the derivation, with the names of the protocol parameters. */
export interface DerivationInput {
  readonly slotDurationInSeconds: number
  readonly slotsPerEpochExponent: number
  /** Percentage of mana that remains after a year. */
  readonly annualDecayFactorPercentage: number
  readonly generationRate: number
  readonly generationRateExponent: number
  readonly decayFactorsExponent: number
  readonly decayFactorEpochsSumExponent: number
  /** Maximum length of the table in epochs. The table never covers more than a year or 65535 epochs. */
  readonly decayFactorsLimit: number
  readonly tokenSupply: bigint
  readonly rewardToGenerationRatio: number
}

export interface DerivedParameters {
  /** Decay factors over 1, 2, 3 … epochs, times 2 to the power of `decayFactorsExponent`. */
  readonly decayFactors: readonly number[]
  readonly decayFactorEpochsSum: number
  /** The exponent in the input, or the highest lower exponent with which the sum fits into 32 bits. */
  readonly decayFactorEpochsSumExponent: number
  /** Number of epochs. */
  readonly bootstrappingDuration: number
  /** Mana per epoch. */
  readonly initialTargetRewardsRate: bigint
  /** Mana per epoch. */
  readonly finalTargetRewardsRate: bigint
}

const secondsPerYear = 31_536_000

/**
 * Derives the parameters. This happens once, when a network is created; the parameters are data from then on. The computation
 * uses floating point and yields exactly the published table.
 */
export function deriveParameters(input: DerivationInput): DerivedParameters {
  const epochsPerYear =
    secondsPerYear / input.slotDurationInSeconds / 2 ** input.slotsPerEpochExponent
  const annualFactor = input.annualDecayFactorPercentage / 100
  const epochFactor = annualFactor ** (1 / epochsPerYear)
  const bootstrappingDuration = Math.floor(epochsPerYear / -Math.log(annualFactor))
  const finalTargetRewardsRate = finalRate(input)
  const bootstrappingYears = bootstrappingDuration / epochsPerYear
  return {
    decayFactors: decayTable(input, epochFactor, epochsPerYear),
    ...epochsSum(epochFactor, input.decayFactorEpochsSumExponent),
    bootstrappingDuration,
    initialTargetRewardsRate: BigInt(
      Math.floor(Number(finalTargetRewardsRate) / annualFactor ** bootstrappingYears),
    ),
    finalTargetRewardsRate,
  }
}

function decayTable(input: DerivationInput, epochFactor: number, epochsPerYear: number): number[] {
  const length = Math.min(Math.floor(epochsPerYear), 65_535, input.decayFactorsLimit)
  const scale = 2 ** input.decayFactorsExponent
  return Array.from({ length }, (_, index) => Math.floor(epochFactor ** (index + 1) * scale))
}

/** Sum of the decay factors of all future epochs. Short epochs make the sum large, and its field has 32 bits. */
function epochsSum(
  epochFactor: number,
  wantedExponent: number,
): Pick<DerivedParameters, 'decayFactorEpochsSum' | 'decayFactorEpochsSumExponent'> {
  const sum = epochFactor / (1 - epochFactor)
  const exponent = Math.min(wantedExponent, Math.floor(Math.log2(2 ** 32 / sum)))
  return {
    decayFactorEpochsSum: Math.floor(sum * 2 ** exponent),
    decayFactorEpochsSumExponent: exponent,
  }
}

/** Rewards of an epoch after bootstrapping: a multiple of the mana that all tokens generate in an epoch. */
function finalRate(input: DerivationInput): bigint {
  const perSlot =
    input.tokenSupply * BigInt(input.rewardToGenerationRatio) * BigInt(input.generationRate)
  return perSlot >> BigInt(input.generationRateExponent - input.slotsPerEpochExponent)
}
