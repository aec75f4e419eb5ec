/** The parameters of mana and rewards that follow from others, for a new network (ledger reference 7.3). */

/** What the derivation starts from; the names are those of the protocol parameters. */
export interface DerivationInput {
  readonly slotDurationInSeconds: number
  readonly slotsPerEpochExponent: number
  /** What is left of mana after a year, in percent. */
  readonly annualDecayFactorPercentage: number
  readonly generationRate: number
  readonly generationRateExponent: number
  readonly decayFactorsExponent: number
  readonly decayFactorEpochsSumExponent: number
  /** Longest table wanted, in epochs; the table never reaches beyond a year or 65535 epochs. */
  readonly decayFactorsLimit: number
  readonly tokenSupply: bigint
  readonly rewardToGenerationRatio: number
}

/** What follows from the input. */
export interface DerivedParameters {
  /** Factor of 1, 2, 3 … epochs, times 2 to `decayFactorsExponent`. */
  readonly decayFactors: readonly number[]
  readonly decayFactorEpochsSum: number
  /** The exponent asked for, or the highest below it with which the sum still fits into 32 bits. */
  readonly decayFactorEpochsSumExponent: number
  /** In epochs. */
  readonly bootstrappingDuration: number
  /** Mana per epoch. */
  readonly initialTargetRewardsRate: bigint
  /** Mana per epoch. */
  readonly finalTargetRewardsRate: bigint
}

const secondsPerYear = 31_536_000

/**
 * Derives them once, when a network is made; from then on they are data. The computation is in floating point,
 * and gives the published table exactly.
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

/** Sum of the factors of all epochs to come. Short epochs make it large, and its field has 32 bits. */
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

/** Rewards of an epoch once bootstrapping is over: a multiple of the mana that all tokens generate in it. */
function finalRate(input: DerivationInput): bigint {
  const perSlot =
    input.tokenSupply * BigInt(input.rewardToGenerationRatio) * BigInt(input.generationRate)
  return perSlot >> BigInt(input.generationRateExponent - input.slotsPerEpochExponent)
}
