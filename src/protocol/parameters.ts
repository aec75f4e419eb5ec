import { BaseToken, EpochIndex, SlotIndex, u8, u16, u32, u64 } from './primitives.ts'
import { list, struct, variant } from './schema/declare.ts'
import { text } from './schema/scalars.ts'
import { about, type Infer } from './schema/schema.ts'

/** Protocol parameters (codec reference 12): the parameters that define a network. */

/** Prices of storage (codec reference 16). */
export const StorageScoreParameters = about(
  'prices of storage',
  struct('StorageScoreParameters', {
    storageCost: about('base tokens that are locked per unit of storage score', u64),
    factorData: about('storage score of a byte', u8),
    offsetOutputOverhead: about('storage score of every output', u64),
    offsetEd25519BlockIssuerKey: about('storage score of a block issuer key', u64),
    offsetStakingFeature: about('storage score of a staking feature', u64),
    offsetDelegation: about('storage score of a delegation output', u64),
  }),
)
export interface StorageScoreParameters extends Infer<typeof StorageScoreParameters> {}

/** Prices of work (codec reference 17). */
export const WorkScoreParameters = about(
  'prices of work',
  struct('WorkScoreParameters', {
    dataByte: about('work score of a byte of payload', u32),
    block: about('work score of every basic block', u32),
    input: about('work score of an input', u32),
    contextInput: about('work score of a context input', u32),
    output: about('work score of an output', u32),
    nativeToken: about('work score of a native token, and of a foundry', u32),
    staking: about('work score of a staking feature', u32),
    blockIssuer: about('work score of a block issuer feature', u32),
    allotment: about('work score of an allotment', u32),
    signatureEd25519: about('work score of a signature', u32),
  }),
)
export interface WorkScoreParameters extends Infer<typeof WorkScoreParameters> {}

/** How mana is generated and decays (ledger reference 7). */
export const ManaParameters = about(
  'how mana is generated and decays',
  struct('ManaParameters', {
    bitsCount: about('number of bits of the largest amount of mana', u8),
    generationRate: about(
      'mana that a base token generates per slot, times 2 to the power of generationRateExponent',
      u8,
    ),
    generationRateExponent: about('power of 2 by which the generation rate is divided', u8),
    decayFactors: about(
      'decay factors over 1, 2, 3 … epochs',
      list('u16', u32, { max: 65_535, size: 'LIST_COUNT' }),
    ),
    decayFactorsExponent: about('power of 2 by which the decay factors are divided', u8),
    decayFactorEpochsSum: about(
      'sum of the decay factors of all future epochs, times 2 to the power of decayFactorEpochsSumExponent',
      u32,
    ),
    decayFactorEpochsSumExponent: about('power of 2 by which that sum is divided', u8),
    annualDecayFactorPercentage: about('percentage of mana that remains after a year', u8),
  }),
)
export interface ManaParameters extends Infer<typeof ManaParameters> {}

/** How the reference mana cost changes (ledger reference 12.3). */
export const CongestionControlParameters = about(
  'how the reference mana cost changes',
  struct('CongestionControlParameters', {
    minReferenceManaCost: about('minimum cost, in mana per unit of work score', u64),
    increase: about('increase of the cost after a busy slot, in mana per unit of work score', u64),
    decrease: about('decrease of the cost after a quiet slot, in mana per unit of work score', u64),
    increaseThreshold: about('work score above which a slot is busy', u32),
    decreaseThreshold: about('work score below which a slot is quiet', u32),
    schedulerRate: about('work score that a node schedules per second', u32),
    maxBufferSize: about('maximum number of basic blocks that wait to be scheduled', u32),
    maxValidationBufferSize: about(
      'maximum number of validation blocks that wait to be scheduled',
      u32,
    ),
  }),
)
export interface CongestionControlParameters extends Infer<typeof CongestionControlParameters> {}

/** How a protocol upgrade is voted on. */
export const VersionSignalingParameters = about(
  'how a protocol upgrade is voted on',
  struct('VersionSignalingParameters', {
    windowSize: about('epochs over which votes are counted', u8),
    windowTargetRatio: about(
      'number of epochs of the window that must support the new version',
      u8,
    ),
    activationOffset: about('epochs from the decision until the new version is active', u8),
  }),
)
export interface VersionSignalingParameters extends Infer<typeof VersionSignalingParameters> {}

/** How validators and delegators are rewarded (ledger reference 12.5). */
export const RewardsParameters = about(
  'how validators and delegators are rewarded',
  struct('RewardsParameters', {
    profitMarginExponent: about('power of 2 by which profit margins are divided', u8),
    bootstrappingDuration: about(
      'epochs at the start of a network in which the target rewards decay',
      u32,
    ),
    rewardToGenerationRatio: about(
      'final rewards in proportion to the mana that the token supply generates',
      u8,
    ),
    initialTargetRewardsRate: about('target rewards of the first epoch, in mana', u64),
    finalTargetRewardsRate: about('target rewards of each epoch after bootstrapping, in mana', u64),
    poolCoefficientExponent: about('power of 2 by which pool coefficients are divided', u8),
    retentionPeriod: about('epochs for which rewards can be claimed', u16),
  }),
)
export interface RewardsParameters extends Infer<typeof RewardsParameters> {}

export const ProtocolParameters = about(
  'all parameters of a network',
  variant('ProtocolParameters', 0, {
    version: about('protocol version of the parameters', u8),
    networkName: about(
      'name of the network, from whose hash the network id is derived',
      text('NetworkName'),
    ),
    bech32Hrp: about('human-readable part of addresses', text('HumanReadablePart')),
    storageScoreParameters: StorageScoreParameters,
    workScoreParameters: WorkScoreParameters,
    manaParameters: ManaParameters,
    tokenSupply: about('total base tokens, in the smallest unit', BaseToken),
    genesisSlot: about('the slot of the genesis', SlotIndex),
    genesisUnixTimestamp: about('start of the first slot after genesis, Unix time in seconds', u64),
    slotDurationInSeconds: about('seconds per slot', u8),
    slotsPerEpochExponent: about('exponent of the number of slots of an epoch, a power of 2', u8),
    stakingUnbondingPeriod: about(
      'minimum number of epochs between setting the end of a stake and this end',
      EpochIndex,
    ),
    validationBlocksPerSlot: about(
      'validation blocks that a committee member may issue per slot',
      u8,
    ),
    punishmentEpochs: about(
      'epochs of mana generation that a validator is fined for each excess block',
      EpochIndex,
    ),
    livenessThresholdLowerBound: about(
      'minimum number of seconds after which a block is too old to be approved',
      u16,
    ),
    livenessThresholdUpperBound: about(
      'maximum number of seconds after which a block is too old to be approved',
      u16,
    ),
    minCommittableAge: about(
      'number of slots for which a slot stays open before it is committed',
      SlotIndex,
    ),
    maxCommittableAge: about(
      'number of slots after which a commitment is too old to be referred to',
      SlotIndex,
    ),
    epochNearingThreshold: about(
      'number of slots before the end of an epoch at which the next committee is selected',
      SlotIndex,
    ),
    congestionControlParameters: CongestionControlParameters,
    versionSignalingParameters: VersionSignalingParameters,
    rewardsParameters: RewardsParameters,
    targetCommitteeSize: about('number of validators in the committee', u8),
    chainSwitchingThreshold: about(
      'number of slots for which another chain must be heavier before a node switches to it',
      u8,
    ),
  }),
)
export interface ProtocolParameters extends Infer<typeof ProtocolParameters> {}

export const supportedProtocolVersion = 3
