import { deriveParameters } from '../../protocol/derive-parameters.ts'
import { ProtocolParameters } from '../../protocol/parameters.ts'

/** The parameters of the development network, in a separate file so that importing them does not load the key derivation. */

export const developmentNetworkName = 'ledger-gateway-dev'

/** Total base tokens of the network. */
export const tokenSupply = 1_813_620_509_061_365n

/** The developer preset of the node (ledger reference 1), with short slots and the values derived from them. */
export function developmentParameters(genesisSeconds: number): ProtocolParameters {
  const slots = { slotDurationInSeconds: 1, slotsPerEpochExponent: 13 }
  const mana = { bitsCount: 63, generationRate: 1, generationRateExponent: 17 }
  const decay = { decayFactorsExponent: 32, annualDecayFactorPercentage: 70 }
  const derived = deriveParameters({
    ...slots,
    ...mana,
    ...decay,
    decayFactorEpochsSumExponent: 21,
    decayFactorsLimit: 384,
    tokenSupply,
    rewardToGenerationRatio: 2,
  })
  return {
    type: ProtocolParameters.code,
    version: 3,
    networkName: developmentNetworkName,
    bech32Hrp: 'tst',
    storageScoreParameters,
    workScoreParameters,
    manaParameters: {
      ...mana,
      ...decay,
      decayFactors: derived.decayFactors,
      decayFactorEpochsSum: derived.decayFactorEpochsSum,
      decayFactorEpochsSumExponent: derived.decayFactorEpochsSumExponent,
    },
    tokenSupply,
    genesisSlot: 0,
    genesisUnixTimestamp: BigInt(genesisSeconds),
    ...slots,
    stakingUnbondingPeriod: 10,
    validationBlocksPerSlot: 1,
    punishmentEpochs: 10,
    livenessThresholdLowerBound: 10,
    livenessThresholdUpperBound: 15,
    minCommittableAge: 3,
    maxCommittableAge: 30,
    epochNearingThreshold: 8,
    congestionControlParameters,
    versionSignalingParameters: { windowSize: 7, windowTargetRatio: 5, activationOffset: 7 },
    rewardsParameters: {
      profitMarginExponent: 8,
      bootstrappingDuration: derived.bootstrappingDuration,
      rewardToGenerationRatio: 2,
      initialTargetRewardsRate: derived.initialTargetRewardsRate,
      finalTargetRewardsRate: derived.finalTargetRewardsRate,
      poolCoefficientExponent: 11,
      retentionPeriod: 384,
    },
    targetCommitteeSize: 32,
    chainSwitchingThreshold: 3,
  }
}

const storageScoreParameters = {
  storageCost: 100n,
  factorData: 1,
  offsetOutputOverhead: 10n,
  offsetEd25519BlockIssuerKey: 100n,
  offsetStakingFeature: 100n,
  offsetDelegation: 100n,
}

const workScoreParameters = {
  dataByte: 500,
  block: 110_000,
  input: 7_500,
  contextInput: 40_000,
  output: 90_000,
  nativeToken: 50_000,
  staking: 40_000,
  blockIssuer: 70_000,
  allotment: 5_000,
  signatureEd25519: 15_000,
}

const congestionControlParameters = {
  minReferenceManaCost: 1n,
  increase: 1n,
  decrease: 1n,
  increaseThreshold: 400_000_000,
  decreaseThreshold: 250_000_000,
  schedulerRate: 50_000_000,
  maxBufferSize: 1_000,
  maxValidationBufferSize: 100,
}
