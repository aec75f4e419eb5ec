import { Block } from './block.ts'
import { OutputIdProof, SlotCommitment } from './commitment.ts'
import { Output } from './outputs.ts'
import { ProtocolParameters } from './parameters.ts'
import {
  BaseToken,
  BlockId,
  CommitmentId,
  EpochIndex,
  Hash,
  Mana,
  OutputId,
  SlotIndex,
  TransactionId,
  u8,
  u32,
  u64,
} from './primitives.ts'
import { flag, int64, omitted, omittedText, rate, word } from './schema/answer-scalars.ts'
import { list, optional, struct } from './schema/declare.ts'
import { text } from './schema/scalars.ts'
import { about, type Infer, type Schema } from './schema/schema.ts'

/** What a node answers by its core API, as JSON and as bytes (rest.md 4.1; iota.go, api/core.go). */

/** Stands for the commitment of a slot that is not committed; JSON leaves it out. */
export const noCommitment = `0x${'00'.repeat(36)}` as CommitmentId

const bech32 = text('Bech32')

/** A list without limit. */
function many<T>(count: 'u8' | 'u16' | 'u32', of: Schema<T>, omitEmpty = false) {
  const max = { u8: 0xff, u16: 0xffff, u32: 0xffff_ffff }[count]
  return list(count, of, { max, size: 'LIST_COUNT', omitEmpty })
}

/** The id of a block that was taken. */
export const BlockCreated = about(
  'a block that was taken',
  struct('BlockCreated', { blockId: about('its id', BlockId) }),
)

export const BlockMetadata = about(
  'where a block stands',
  struct('BlockMetadata', {
    blockId: about('which block', BlockId),
    blockState: about(
      'how far it has come',
      word('unknown', 'pending', 'accepted', 'confirmed', 'finalized', 'dropped', 'orphaned'),
    ),
  }),
)
export interface BlockMetadata extends Infer<typeof BlockMetadata> {}

export const BlockWithMetadata = about(
  'a block and where it stands',
  struct('BlockWithMetadata', { block: Block, metadata: BlockMetadata }),
)

export const TransactionMetadata = about(
  'where a transaction stands',
  struct('TransactionMetadata', {
    transactionId: about('which transaction', TransactionId),
    transactionState: about(
      'how far it has come',
      word('unknown', 'pending', 'accepted', 'committed', 'finalized', 'failed'),
    ),
    earliestAttachmentSlot: about('slot of the earliest block that carries it', SlotIndex),
    transactionFailureReason: about('published number of why it failed', omitted(u8, 0)),
    transactionFailureDetails: about('why it failed, in words', omittedText('Details', 'u16')),
  }),
)
export interface TransactionMetadata extends Infer<typeof TransactionMetadata> {}

export const OutputWithProof = about(
  'an output with the proof that it belongs to its transaction',
  struct('OutputWithProof', {
    output: about('the output', Output),
    outputIdProof: OutputIdProof,
  }),
)

const includedIn = {
  slot: about('slot in which it was booked', SlotIndex),
  transactionId: about('the transaction that did it', TransactionId),
  commitmentId: about(
    'commitment to that slot; left out until it is committed',
    omitted(CommitmentId, noCommitment),
  ),
}

const OutputIncluded = about('how an output came', struct('OutputIncluded', includedIn))
const OutputSpent = about('how an output went', struct('OutputSpent', includedIn))

export const OutputMetadata = about(
  'what became of an output',
  struct('OutputMetadata', {
    outputId: about('which output', OutputId),
    blockId: about('the block that carried its transaction', BlockId),
    included: OutputIncluded,
    spent: about('how it went; left out while it is unspent', optional(OutputSpent)),
    latestCommitmentId: about('the newest commitment, as of which this holds', CommitmentId),
  }),
)
export interface OutputMetadata extends Infer<typeof OutputMetadata> {}

/** An output with everything about it. */
export const OutputWithMetadata = about(
  'an output with its proof and what became of it',
  struct('OutputWithMetadata', {
    output: about('the output', Output),
    outputIdProof: OutputIdProof,
    metadata: OutputMetadata,
  }),
)
export interface OutputWithMetadata extends Infer<typeof OutputWithMetadata> {}

export const UtxoChanges = about(
  'what a slot changed in the ledger',
  struct('UtxoChanges', {
    commitmentId: about('commitment to the slot', CommitmentId),
    createdOutputs: about('outputs that came', many('u32', OutputId)),
    consumedOutputs: about('outputs that went', many('u32', OutputId)),
  }),
)

export const OutputWithId = about(
  'an output and its id',
  struct('OutputWithId', {
    outputId: about('its id', OutputId),
    output: about('the output', Output),
  }),
)

export const UtxoChangesFull = about(
  'what a slot changed in the ledger, with the outputs themselves',
  struct('UtxoChangesFull', {
    commitmentId: about('commitment to the slot', CommitmentId),
    createdOutputs: about('outputs that came', many('u32', OutputWithId)),
    consumedOutputs: about('outputs that went', many('u32', OutputWithId)),
  }),
)
export interface UtxoChangesFull extends Infer<typeof UtxoChangesFull> {}

export const IssuanceOffer = about(
  'what a block issued now should refer to',
  struct('IssuanceOffer', {
    strongParents: about('blocks to approve', many('u8', BlockId)),
    weakParents: about('blocks to approve without what they approve', many('u8', BlockId, true)),
    shallowLikeParents: about('blocks to like', many('u8', BlockId, true)),
    latestParentBlockIssuingTime: about(
      'Unix time in nanoseconds; a block must be issued after it',
      u64,
    ),
    latestFinalizedSlot: about('newest finalized slot', SlotIndex),
    latestCommitment: about('commitment to refer to', SlotCommitment),
  }),
)
export interface IssuanceOffer extends Infer<typeof IssuanceOffer> {}

const NodeStatus = about(
  'the state of the node',
  struct('NodeStatus', {
    isHealthy: about('whether it can do its work', flag),
    isNetworkHealthy: about('whether slots are finalized in time', flag),
    acceptedTangleTime: about('Unix time in nanoseconds up to which blocks are accepted', u64),
    relativeAcceptedTangleTime: about('the same, moving on between blocks', u64),
    confirmedTangleTime: about('Unix time in nanoseconds up to which blocks are confirmed', u64),
    relativeConfirmedTangleTime: about('the same, moving on between blocks', u64),
    latestCommitmentId: about('newest commitment', CommitmentId),
    latestFinalizedSlot: about('newest finalized slot', SlotIndex),
    latestAcceptedBlockSlot: about('slot of the newest accepted block', SlotIndex),
    latestConfirmedBlockSlot: about('slot of the newest confirmed block', SlotIndex),
    pruningEpoch: about('newest epoch whose blocks are gone', EpochIndex),
  }),
)

export const ParametersInForce = about(
  'protocol parameters and when they begin',
  struct('ParametersInForce', {
    startEpoch: about('first epoch in which they are in force', EpochIndex),
    parameters: ProtocolParameters,
  }),
)
export interface ParametersInForce extends Infer<typeof ParametersInForce> {}

const BaseTokenNames = about(
  'how the base token is called',
  struct('BaseTokenNames', {
    name: about('its name', text('Name')),
    tickerSymbol: about('its symbol', text('Symbol')),
    unit: about('the unit people use', text('Unit')),
    subunit: about('the smallest unit', omittedText('Subunit', 'u8')),
    decimals: about('the unit is 10 to this power of the smallest', u32),
  }),
)

export const NodeInfo = about(
  'the node and its network',
  struct('NodeInfo', {
    name: about('the program', text('Name')),
    version: about('its version', text('Version')),
    status: NodeStatus,
    protocolParameters: about('parameters of all versions known', many('u8', ParametersInForce)),
    baseToken: BaseTokenNames,
  }),
)

export const NetworkMetrics = about(
  'how busy the network is',
  struct('NetworkMetrics', {
    blocksPerSecond: about('blocks that came in a second', rate),
    confirmedBlocksPerSecond: about('blocks that were confirmed in a second', rate),
    confirmationRate: about('confirmed blocks in percent of those that came', rate),
  }),
)
export interface NetworkMetrics extends Infer<typeof NetworkMetrics> {}

export const NetworkHealth = about(
  'whether the network is healthy',
  struct('NetworkHealth', { isNetworkHealthy: about('whether slots are finalized in time', flag) }),
)

export const Congestion = about(
  'what an account pays for a block, and with what',
  struct('Congestion', {
    slot: about('slot as of which this holds', SlotIndex),
    ready: about('whether a block of it would be taken now', flag),
    referenceManaCost: about('mana a unit of work score', Mana),
    blockIssuanceCredits: about('mana the account has to pay with; below zero it is locked', int64),
  }),
)

export const ManaRewards = about(
  'what a stake or a delegation may claim',
  struct('ManaRewards', {
    startEpoch: about('first epoch with rewards', EpochIndex),
    endEpoch: about('last epoch with rewards', EpochIndex),
    rewards: about('mana to claim, decayed', Mana),
    latestCommittedEpochPoolRewards: about('rewards of the whole pool in the newest epoch', Mana),
  }),
)

const member = {
  address: about('Bech32 text of the account address', bech32),
  poolStake: about('base tokens of its own stake and of all delegations to it', BaseToken),
  validatorStake: about('base tokens of its own stake', BaseToken),
  fixedCost: about('mana that it takes before sharing', Mana),
}

export const Validator = about(
  'an account that is a candidate for the committee',
  struct('Validator', {
    address: member.address,
    stakingEndEpoch: about('last epoch of its stake', EpochIndex),
    poolStake: member.poolStake,
    validatorStake: member.validatorStake,
    fixedCost: member.fixedCost,
    active: about('whether it announced its candidacy in this epoch', flag),
    latestSupportedProtocolVersion: about('newest version that its blocks have named', u8),
    latestSupportedProtocolHash: about('hash of the parameters of that version', Hash),
  }),
)
export interface Validator extends Infer<typeof Validator> {}

export const Validators = about(
  'some validators, the greatest pool first',
  struct('Validators', {
    validators: about('a page of them', many('u16', Validator)),
    pageSize: about('how many a page has at most', u32),
    cursor: about(
      'where the next page begins; left out where there is none',
      omittedText('Cursor', 'u8'),
    ),
  }),
)

const CommitteeMember = about('a member of the committee', struct('CommitteeMember', member))

export const Committee = about(
  'the committee of an epoch',
  struct('Committee', {
    committee: about('its members, the greatest pool first', many('u8', CommitteeMember)),
    totalStake: about('base tokens of all pools', BaseToken),
    totalValidatorStake: about("base tokens of its members' own stakes", BaseToken),
    epoch: about('which epoch', EpochIndex),
  }),
)

/** Outputs that the indexer found. */
export const FoundOutputs = about(
  'outputs that were found',
  struct('FoundOutputs', {
    committedSlot: about('slot as of which they were found', SlotIndex),
    pageSize: about('how many a page has at most', u32),
    items: about('a page of their ids', many('u16', OutputId)),
    cursor: about(
      'where the next page begins; left out where there is none',
      omittedText('Cursor', 'u8'),
    ),
  }),
)

/** All of them. */
export const nodeAnswers = [
  BlockCreated,
  BlockWithMetadata,
  TransactionMetadata,
  OutputWithMetadata,
  OutputWithProof,
  UtxoChanges,
  UtxoChangesFull,
  IssuanceOffer,
  NodeInfo,
  NetworkMetrics,
  NetworkHealth,
  Congestion,
  ManaRewards,
  Validators,
  Committee,
  FoundOutputs,
] as const
