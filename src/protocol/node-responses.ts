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
import { list, optional, struct } from './schema/declare.ts'
import { flag, int64, omitted, omittedText, rate, word } from './schema/response-scalars.ts'
import { text } from './schema/scalars.ts'
import { about, type Infer, type Schema } from './schema/schema.ts'

/** The responses of a node's core API, as JSON and as bytes (rest.md 4.1; iota.go, api/core.go). */

/** The content type of the responses, and of blocks, as bytes. */
export const binaryType = 'application/vnd.iota.serializer-v2'

/** The commitment id of all zeros. It means that there is no commitment, as before the first slot; JSON leaves it out. */
export const noCommitment = `0x${'00'.repeat(36)}` as CommitmentId

const bech32 = text('Bech32')

/** A list that is limited only by the width of its count. */
function many<T>(count: 'u8' | 'u16' | 'u32', of: Schema<T>, omitEmpty = false) {
  const max = { u8: 0xff, u16: 0xffff, u32: 0xffff_ffff }[count]
  return list(count, of, { max, size: 'LIST_COUNT', omitEmpty })
}

export const BlockCreated = about(
  'a block that was accepted',
  struct('BlockCreated', { blockId: about('id of the block', BlockId) }),
)

export const BlockMetadata = about(
  'state of a block',
  struct('BlockMetadata', {
    blockId: about('id of the block', BlockId),
    blockState: about(
      'state of the block',
      word('unknown', 'pending', 'accepted', 'confirmed', 'finalized', 'dropped', 'orphaned'),
    ),
  }),
)
export interface BlockMetadata extends Infer<typeof BlockMetadata> {}

export const BlockWithMetadata = about(
  'a block with its state',
  struct('BlockWithMetadata', { block: Block, metadata: BlockMetadata }),
)

export const TransactionMetadata = about(
  'state of a transaction',
  struct('TransactionMetadata', {
    transactionId: about('id of the transaction', TransactionId),
    transactionState: about(
      'state of the transaction',
      word('unknown', 'pending', 'accepted', 'committed', 'finalized', 'failed'),
    ),
    earliestAttachmentSlot: about('slot of the earliest block with the transaction', SlotIndex),
    transactionFailureReason: about('published number of the failure reason', omitted(u8, 0)),
    transactionFailureDetails: about('failure reason in words', omittedText('Details', 'u16')),
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
  slot: about('slot in which the transaction was booked', SlotIndex),
  transactionId: about('transaction that created or spent the output', TransactionId),
  commitmentId: about(
    'commitment to that slot; left out until the slot is committed',
    omitted(CommitmentId, noCommitment),
  ),
}

const OutputIncluded = about('creation of an output', struct('OutputIncluded', includedIn))
const OutputSpent = about('spending of an output', struct('OutputSpent', includedIn))

export const OutputMetadata = about(
  'creation and spending of an output',
  struct('OutputMetadata', {
    outputId: about('id of the output', OutputId),
    blockId: about('block with the transaction that created the output', BlockId),
    included: OutputIncluded,
    spent: about('spending; left out while the output is unspent', optional(OutputSpent)),
    latestCommitmentId: about('newest commitment, as of which the metadata is', CommitmentId),
  }),
)
export interface OutputMetadata extends Infer<typeof OutputMetadata> {}

export const OutputWithMetadata = about(
  'an output with its proof and its metadata',
  struct('OutputWithMetadata', {
    output: about('the output', Output),
    outputIdProof: OutputIdProof,
    metadata: OutputMetadata,
  }),
)
export interface OutputWithMetadata extends Infer<typeof OutputWithMetadata> {}

export const UtxoChanges = about(
  'outputs that a slot created and consumed',
  struct('UtxoChanges', {
    commitmentId: about('commitment to the slot', CommitmentId),
    createdOutputs: about('ids of the created outputs', many('u32', OutputId)),
    consumedOutputs: about('ids of the consumed outputs', many('u32', OutputId)),
  }),
)

export const OutputWithId = about(
  'an output and its id',
  struct('OutputWithId', {
    outputId: about('id of the output', OutputId),
    output: about('the output', Output),
  }),
)

export const UtxoChangesFull = about(
  'outputs that a slot created and consumed, in full',
  struct('UtxoChangesFull', {
    commitmentId: about('commitment to the slot', CommitmentId),
    createdOutputs: about('created outputs', many('u32', OutputWithId)),
    consumedOutputs: about('consumed outputs', many('u32', OutputWithId)),
  }),
)
export interface UtxoChangesFull extends Infer<typeof UtxoChangesFull> {}

export const IssuanceOffer = about(
  'parents and commitment to which a new block should refer',
  struct('IssuanceOffer', {
    strongParents: about('blocks to approve', many('u8', BlockId)),
    weakParents: about('blocks to approve without their past', many('u8', BlockId, true)),
    shallowLikeParents: about(
      'blocks whose transaction to prefer to a conflicting transaction',
      many('u8', BlockId, true),
    ),
    latestParentBlockIssuingTime: about(
      'Unix time in nanoseconds after which the block must be issued',
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
    isHealthy: about('whether the node is healthy', flag),
    isNetworkHealthy: about('whether slots are finalized in time', flag),
    acceptedTangleTime: about('Unix time in nanoseconds up to which blocks are accepted', u64),
    relativeAcceptedTangleTime: about(
      'Unix time in nanoseconds up to which blocks are accepted, also advancing between blocks',
      u64,
    ),
    confirmedTangleTime: about('Unix time in nanoseconds up to which blocks are confirmed', u64),
    relativeConfirmedTangleTime: about(
      'Unix time in nanoseconds up to which blocks are confirmed, also advancing between blocks',
      u64,
    ),
    latestCommitmentId: about('newest commitment', CommitmentId),
    latestFinalizedSlot: about('newest finalized slot', SlotIndex),
    latestAcceptedBlockSlot: about('slot of the newest accepted block', SlotIndex),
    latestConfirmedBlockSlot: about('slot of the newest confirmed block', SlotIndex),
    pruningEpoch: about('newest epoch whose blocks were pruned', EpochIndex),
  }),
)

export const ParametersInForce = about(
  'protocol parameters with the first epoch of their validity',
  struct('ParametersInForce', {
    startEpoch: about('first epoch in which they are in force', EpochIndex),
    parameters: ProtocolParameters,
  }),
)
export interface ParametersInForce extends Infer<typeof ParametersInForce> {}

const BaseTokenNames = about(
  'names and units of the base token',
  struct('BaseTokenNames', {
    name: about('name of the token', text('Name')),
    tickerSymbol: about('ticker symbol of the token', text('Symbol')),
    unit: about('common unit', text('Unit')),
    subunit: about('smallest unit', omittedText('Subunit', 'u8')),
    decimals: about('number of decimal places of the common unit', u32),
  }),
)

export const NodeInfo = about(
  'the node and its network',
  struct('NodeInfo', {
    name: about('name of the program', text('Name')),
    version: about('version of the program', text('Version')),
    status: NodeStatus,
    protocolParameters: about('parameters of all known versions', many('u8', ParametersInForce)),
    baseToken: BaseTokenNames,
  }),
)

export const NetworkMetrics = about(
  'block rates of the network',
  struct('NetworkMetrics', {
    blocksPerSecond: about('received blocks per second', rate),
    confirmedBlocksPerSecond: about('confirmed blocks per second', rate),
    confirmationRate: about('confirmed blocks in percent of the received blocks', rate),
  }),
)
export interface NetworkMetrics extends Infer<typeof NetworkMetrics> {}

export const NetworkHealth = about(
  'whether the network is healthy',
  struct('NetworkHealth', { isNetworkHealthy: about('whether slots are finalized in time', flag) }),
)

export const Congestion = about(
  'price of a block for an account, and the credits of the account',
  struct('Congestion', {
    slot: about('slot as of which the values are', SlotIndex),
    ready: about('whether a block of the account would be accepted now', flag),
    referenceManaCost: about('mana per unit of work score', Mana),
    blockIssuanceCredits: about(
      'mana of the account for blocks; below zero the account is locked',
      int64,
    ),
  }),
)

export const ManaRewards = about(
  'rewards that a stake or a delegation may claim',
  struct('ManaRewards', {
    startEpoch: about('first epoch with rewards', EpochIndex),
    endEpoch: about('last epoch with rewards', EpochIndex),
    rewards: about('mana to claim, after decay', Mana),
    latestCommittedEpochPoolRewards: about('rewards of the whole pool in the newest epoch', Mana),
  }),
)

const member = {
  address: about('Bech32 text of the account address', bech32),
  poolStake: about('base tokens of its own stake and of all delegations to it', BaseToken),
  validatorStake: about('base tokens of its own stake', BaseToken),
  fixedCost: about('mana that the validator keeps before the rest is shared', Mana),
}

export const Validator = about(
  'an account that is a candidate for the committee',
  struct('Validator', {
    address: member.address,
    stakingEndEpoch: about('last epoch of the stake', EpochIndex),
    poolStake: member.poolStake,
    validatorStake: member.validatorStake,
    fixedCost: member.fixedCost,
    active: about('whether the validator announced its candidacy in this epoch', flag),
    latestSupportedProtocolVersion: about('newest version in the blocks of the validator', u8),
    latestSupportedProtocolHash: about('hash of the parameters of that version', Hash),
  }),
)
export interface Validator extends Infer<typeof Validator> {}

export const Validators = about(
  'a page of validators, the largest pool first',
  struct('Validators', {
    validators: about('the validators of the page', many('u16', Validator)),
    pageSize: about('maximum number of validators of a page', u32),
    cursor: about(
      'cursor of the next page; left out on the last page',
      omittedText('Cursor', 'u8'),
    ),
  }),
)

const CommitteeMember = about('a member of the committee', struct('CommitteeMember', member))

export const Committee = about(
  'the committee of an epoch',
  struct('Committee', {
    committee: about(
      'members of the committee, the largest pool first',
      many('u8', CommitteeMember),
    ),
    totalStake: about('base tokens of all pools', BaseToken),
    totalValidatorStake: about("base tokens of the members' own stakes", BaseToken),
    epoch: about('the epoch', EpochIndex),
  }),
)

/** Outputs that the indexer found. */
export const FoundOutputs = about(
  'a page of outputs that were found',
  struct('FoundOutputs', {
    committedSlot: about('newest committed slot at the time of the search', SlotIndex),
    pageSize: about('maximum number of outputs of a page', u32),
    items: about('ids of the outputs of the page', many('u16', OutputId)),
    cursor: about(
      'cursor of the next page; left out on the last page',
      omittedText('Cursor', 'u8'),
    ),
  }),
)

export const nodeResponses = [
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
