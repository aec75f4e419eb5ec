import { BaseToken, EpochIndex, SlotIndex, u8, u16, u32, u64 } from './primitives.ts'
import { list, struct, variant } from './schema/declare.ts'
import { text } from './schema/scalars.ts'
import { about, type Infer } from './schema/schema.ts'

/** Protocol parameters (codec reference 12): the numbers that make one network. */

/** Prices of storage (codec reference 16). */
export const StorageScoreParameters = about(
  'prices of storage',
  struct('StorageScoreParameters', {
    storageCost: about('base tokens that a unit of storage score locks up', u64),
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
    bitsCount: about('bits of the largest amount of mana', u8),
    generationRate: about(
      'mana a base token generates in a slot, times 2 to the exponent below',
      u8,
    ),
    generationRateExponent: about('power of 2 by which the generation rate is divided', u8),
    decayFactors: about(
      'decay over 1, 2, 3 … epochs',
      list('u16', u32, { max: 65_535, size: 'LIST_COUNT' }),
    ),
    decayFactorsExponent: about('power of 2 by which the decay factors are divided', u8),
    decayFactorEpochsSum: about(
      'sum of the decay over all epochs to come, times 2 to the exponent below',
      u32,
    ),
    decayFactorEpochsSumExponent: about('power of 2 by which that sum is divided', u8),
    annualDecayFactorPercentage: about('what is left of mana after a year, in percent', u8),
  }),
)
export interface ManaParameters extends Infer<typeof ManaParameters> {}

/** How the reference mana cost moves (ledger reference 12.3). */
export const CongestionControlParameters = about(
  'how the reference mana cost moves',
  struct('CongestionControlParameters', {
    minReferenceManaCost: about('the least cost, in mana a unit of work score', u64),
    increase: about('what the cost rises by after a busy slot, in mana a unit of work score', u64),
    decrease: about('what the cost falls by after a quiet slot, in mana a unit of work score', u64),
    increaseThreshold: about('a slot with more work score than this is busy', u32),
    decreaseThreshold: about('a slot with less work score than this is quiet', u32),
    schedulerRate: about('work score that a node schedules in a second', u32),
    maxBufferSize: about('most basic blocks that wait to be scheduled', u32),
    maxValidationBufferSize: about('most validation blocks that wait to be scheduled', u32),
  }),
)
export interface CongestionControlParameters extends Infer<typeof CongestionControlParameters> {}

/** How a protocol upgrade is voted on. */
export const VersionSignalingParameters = about(
  'how a protocol upgrade is voted on',
  struct('VersionSignalingParameters', {
    windowSize: about('epochs over which votes are counted', u8),
    windowTargetRatio: about('epochs of the window that must support the new version', u8),
    activationOffset: about('epochs from the decision to the new version', u8),
  }),
)
export interface VersionSignalingParameters extends Infer<typeof VersionSignalingParameters> {}

/** How validators and delegators are rewarded (ledger reference 12.5). */
export const RewardsParameters = about(
  'how validators and delegators are rewarded',
  struct('RewardsParameters', {
    profitMarginExponent: about('power of 2 by which profit margins are divided', u8),
    bootstrappingDuration: about(
      'epochs at the beginning of a network in which the target rewards decay',
      u32,
    ),
    rewardToGenerationRatio: about(
      'final rewards in proportion to the mana that the token supply generates',
      u8,
    ),
    initialTargetRewardsRate: about('rewards aimed at in the first epoch, in mana', u64),
    finalTargetRewardsRate: about('rewards aimed at in every epoch after those, in mana', u64),
    poolCoefficientExponent: about('power of 2 by which pool coefficients are divided', u8),
    retentionPeriod: about('epochs for which rewards can be claimed', u16),
  }),
)
export interface RewardsParameters extends Infer<typeof RewardsParameters> {}

/** Everything that makes one network. */
export const ProtocolParameters = about(
  'everything that makes one network',
  variant('ProtocolParameters', 0, {
    version: about('the protocol version these belong to', u8),
    networkName: about('name of the network; its hash gives the network id', text('NetworkName')),
    bech32Hrp: about('human-readable part of addresses', text('HumanReadablePart')),
    storageScoreParameters: StorageScoreParameters,
    workScoreParameters: WorkScoreParameters,
    manaParameters: ManaParameters,
    tokenSupply: about('base tokens in being, in the smallest unit', BaseToken),
    genesisSlot: about('the slot of the genesis', SlotIndex),
    genesisUnixTimestamp: about('Unix time in seconds', u64),
    slotDurationInSeconds: about('seconds a slot', u8),
    slotsPerEpochExponent: about('an epoch has 2 to this power slots', u8),
    stakingUnbondingPeriod: about(
      'epochs that a stake must still last when its end is set',
      EpochIndex,
    ),
    validationBlocksPerSlot: about('validation blocks a committee member may issue in a slot', u8),
    punishmentEpochs: about(
      'epochs of mana generation that a validator is fined for each block too many',
      EpochIndex,
    ),
    livenessThresholdLowerBound: about(
      'seconds after which a block is too old to be approved, at the least',
      u16,
    ),
    livenessThresholdUpperBound: about(
      'seconds after which a block is too old to be approved, at the most',
      u16,
    ),
    minCommittableAge: about('slots that a slot stays open before it is committed', SlotIndex),
    maxCommittableAge: about(
      'slots after which a commitment is too old to be referred to',
      SlotIndex,
    ),
    epochNearingThreshold: about(
      'slots before the end of an epoch at which the next committee is chosen',
      SlotIndex,
    ),
    congestionControlParameters: CongestionControlParameters,
    versionSignalingParameters: VersionSignalingParameters,
    rewardsParameters: RewardsParameters,
    targetCommitteeSize: about('validators in the committee', u8),
    chainSwitchingThreshold: about(
      'slots by which another chain must be heavier before a node switches to it',
      u8,
    ),
  }),
)
export interface ProtocolParameters extends Infer<typeof ProtocolParameters> {}

/** The protocol version that this program speaks. */
export const knownVersion = 3
