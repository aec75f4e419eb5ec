import { type AdmissionError, admissionError } from '../ledger/admission.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { Block, signedTransactionOf } from '../protocol/block.ts'
import { identifyBlock, slotOfId } from '../protocol/ids.ts'
import { CommitmentInput } from '../protocol/inputs.ts'
import { is } from '../protocol/is.ts'
import type { Network } from '../protocol/network.ts'
import { AccountId, BlockId, Hash, SlotIndex, u64 } from '../protocol/primitives.ts'
import { isOfNode, type Problem } from '../protocol/problems.ts'
import { list, struct } from '../protocol/schema/declare.ts'
import type { Refusal } from '../protocol/schema/refusal.ts'
import { anyJson, int64, record } from '../protocol/schema/response-scalars.ts'
import { encode, type Json, parse } from '../protocol/schema/schema.ts'
import { slotOfTime } from '../protocol/slots.ts'
import { blockProblems } from '../protocol/syntax.ts'
import { readNetwork, type Verdict, type VerifyDeps, type VerifyInput } from './verify-input.ts'

/** Verifies a block against the context in the input (ledger reference 2.1). */

const BlockQuestion = struct('BlockQuestion', {
  block: anyJson,
  context: struct('Context', {
    clock: u64,
    maxClockDriftNanoseconds: u64,
    referenceManaCost: u64,
    accounts: record(
      AccountId,
      struct('Account', {
        bic: int64,
        expirySlot: SlotIndex,
        blockIssuerKeys: list('u8', Hash, { max: 255, size: 'LIST_COUNT' }),
      }),
    ),
    parents: record(BlockId, u64),
    committee: list('u32', AccountId, { max: 0xffff, size: 'LIST_COUNT', omitEmpty: true }),
  }),
})

/** Returns whether the block is accepted; for a refused block, the stage and the reason. */
export async function verifyBlock(deps: VerifyDeps, input: VerifyInput): Promise<Verdict> {
  const network = readNetwork(input)
  if (!network.ok) return network
  const given = parse(BlockQuestion, input)
  if (!given.ok) return given
  const read = readBlock(input.block, network.value)
  if (!read.ok) return ok(refused('syntax', read.error))
  const { block, bytes } = read.value
  const { parameters } = network.value
  const { context } = given.value
  const account = context.accounts.get(block.header.issuerId)
  const error = admissionError(block, {
    parameters,
    now: context.clock,
    maxClockDriftNs: context.maxClockDriftNanoseconds,
    isCommitmentKnown: () => true,
    committee: new Set(context.committee),
    // The input does not state the committed slots.
    oldestParentSlot: 0,
    issuingTimeOf: (blockId) => context.parents.get(blockId),
    issuer: account && {
      credits: account.bic,
      expirySlot: account.expirySlot,
      keyHashes: account.blockIssuerKeys,
    },
    referenceManaCost: context.referenceManaCost,
  })
  if (error !== undefined) return ok(refused(...publishedReasons[error.code]))
  const slot = slotOfTime(parameters, block.header.issuingTime)
  const message = identifyBlock(bytes, slot).signingInput
  const valid = await deps.checker.check([{ ...block.signature, message }])
  if (!valid.ok) return valid
  if (valid.value[0] !== true) return ok(refused('filter', 'InvalidSignature'))
  return ok({ accepted: true, stage: 'accepted', reason: null })
}

/** The stage at which a node refuses a block. */
type Stage = 'syntax' | 'clock' | 'pre-filter' | 'filter'

function refused(stage: Stage, reason: string): Json {
  return { accepted: false, stage, reason }
}

/** Published reasons of the rules that need data beside the block. */
const publishedReasons: { readonly [C in AdmissionError['code']]: readonly [Stage, string] } = {
  BLOCK_ISSUED_IN_FUTURE: ['clock', 'BlockTimeTooFarAheadInFuture'],
  COMMITMENT_UNKNOWN: ['clock', 'UnsolidifiableCommitment'],
  VALIDATOR_NOT_IN_COMMITTEE: ['pre-filter', 'ValidatorNotInCommittee'],
  PARENT_TOO_OLD: ['filter', 'BlockParentTooOld'],
  PARENT_UNKNOWN: ['filter', 'BlockParentNotFound'],
  PARENT_NOT_OLDER: ['filter', 'BlockIssuingTimeNonMonotonic'],
  ISSUER_UNKNOWN: ['filter', 'IssuerAccountNotFound'],
  REFERENCE_MANA_COST_UNKNOWN: ['filter', 'RMCNotFound'],
  BURNED_MANA_TOO_LITTLE: ['filter', 'BurnedInsufficientMana'],
  ISSUER_IN_DEBT: ['filter', 'AccountLocked'],
  ISSUER_EXPIRED: ['filter', 'AccountExpired'],
  ISSUER_KEY_UNKNOWN: ['filter', 'InvalidSignature'],
}

/** Reads a well-formed block, or returns the published reason why it is malformed. */
function readBlock(
  json: unknown,
  network: Network,
): Result<{ readonly block: Block; readonly bytes: Uint8Array }, string> {
  const block = parse(Block, json)
  if (!block.ok) return err(parsingReason(block.error, json))
  const bytes = encode(Block, block.value)
  const problems = blockProblems(block.value, { network, bytes, from: 'bytes' })
  const reasons = problems
    .filter(isOfNode)
    .map((problem) => reasonOf(problem, block.value, network))
  const [first] = reasons.toSorted((a, b) => rank(a) - rank(b))
  return first === undefined ? ok({ block: block.value, bytes }) : err(first)
}

/** The reasons of form in the order of the reference; reasons without a published name come last. */
const formReasons = [
  'BlockMaxSizeExceeded',
  'InvalidBlockVersion',
  'BlockNetworkIDInvalid',
  'WeakParentsInvalid',
  'CommitmentTooRecent',
  'CommitmentTooOld',
  'TransactionCreationSlotTooRecent',
  'CommitmentInputTooRecent',
  'CommitmentInputTooOld',
  'CommitmentInputNewerThanCommitment',
  'HighestSupportedVersionTooSmall',
]

function rank(reason: string): number {
  const place = formReasons.indexOf(reason)
  return place === -1 ? formReasons.length : place
}

function reasonOf({ code }: Problem, block: Block, { parameters }: Network): string {
  if (code !== 'BLOCK_TX_COMMITMENT_RANGE') return reasonByCode.get(code) ?? code
  const slot = slotOfTime(parameters, block.header.issuingTime)
  const { contextInputs } = signedTransactionOf(block)?.transaction ?? {}
  const committed = contextInputs?.find((input) => is(CommitmentInput, input))?.commitmentId
  const isOld = committed !== undefined && slot > slotOfId(committed) + parameters.maxCommittableAge
  return isOld ? 'CommitmentInputTooOld' : 'CommitmentInputTooRecent'
}

const reasonByCode = new Map<string, string>([
  ['BLOCK_SIZE', 'BlockMaxSizeExceeded'],
  ['HEADER_VERSION', 'InvalidBlockVersion'],
  ['HEADER_NETWORK_ID', 'BlockNetworkIDInvalid'],
  ['PARENTS_WEAK_DISJOINT', 'WeakParentsInvalid'],
  ['HEADER_COMMITMENT_TOO_RECENT', 'CommitmentTooRecent'],
  ['HEADER_COMMITMENT_TOO_OLD', 'CommitmentTooOld'],
  ['BLOCK_TX_CREATION_SLOT', 'TransactionCreationSlotTooRecent'],
  ['BLOCK_TX_COMMITMENT_NEWER', 'CommitmentInputNewerThanCommitment'],
  ['VALIDATION_HIGHEST_VERSION', 'HighestSupportedVersionTooSmall'],
  ['PARENTS_STRONG_COUNT', 'ParentsCount'],
  ['PARENTS_WEAK_COUNT', 'ParentsCount'],
  ['PARENTS_SHALLOW_LIKE_COUNT', 'ParentsCount'],
])

/** The reason why JSON is not a block. The codec has one rule for the order of a list and for repetitions. */
function parsingReason({ code, path }: Refusal, json: unknown): string {
  if (code !== 'PARENTS_ORDER') return reasonByCode.get(code) ?? code
  const [, list = '', index = ''] = path.split('.')
  const parents: unknown = Reflect.get(Object(Reflect.get(Object(json), 'body')), list)
  const before = Array.isArray(parents) ? parents.slice(0, Number(index)) : []
  const isRepeated = Array.isArray(parents) && before.includes(parents[Number(index)])
  return isRepeated ? 'ParentsNotUnique' : 'ParentsNotSorted'
}
