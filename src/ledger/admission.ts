import type { Hex } from '../lib/hex.ts'
import { BasicBlockBody, type Block, ValidationBlockBody } from '../protocol/block.ts'
import { publicKeyHash, slotOfId } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, BlockId, CommitmentId, SlotIndex } from '../protocol/primitives.ts'
import { nodeWorkScore } from '../protocol/score.ts'
import type { AccountEntry } from './accounts.ts'

/**
 * Whether a well-formed block may come in: the rules that need a clock, the commitments, the parents and the issuer
 * (ledger reference 2.1, rows 15 to 28). The rules of form come before, the issuer's signature, which is dear, after.
 */

/** What a block is held against. */
export interface AdmissionContext {
  readonly parameters: ProtocolParameters
  /** Unix time in nanoseconds. */
  readonly now: bigint
  /** How far ahead of that a block may be issued, in nanoseconds. */
  readonly maxClockDriftNs: bigint
  readonly isCommitmentKnown: (commitmentId: CommitmentId) => boolean
  /** The validators of the block's slot; none where no committee is known. */
  readonly committee: ReadonlySet<AccountId>
  /** Parents of former slots are too old. */
  readonly oldestParentSlot: SlotIndex
  /** The issuing time of a block that is known. */
  readonly issuingTimeOf: (blockId: BlockId) => bigint | undefined
  /** The issuer's entry at the end of the slot that the block commits to. */
  readonly issuer: IssuerTerms | undefined
  /** The reference mana cost in that slot's commitment. */
  readonly referenceManaCost: bigint | undefined
}

/** What an issuer's entry says of its blocks. */
export type IssuerTerms = Pick<AccountEntry, 'credits' | 'expirySlot' | 'keyHashes'>

/** Why a block does not come in. */
export type AdmissionError =
  | BlockIssuedInFuture
  | CommitmentUnknown
  | ValidatorNotInCommittee
  | ParentTooOld
  | ParentUnknown
  | ParentNotOlder
  | IssuerUnknown
  | ReferenceManaCostUnknown
  | BurnedManaTooLittle
  | IssuerInDebt
  | IssuerExpired
  | IssuerKeyUnknown

/** The issuing time lies further ahead than clocks may differ. */
export interface BlockIssuedInFuture {
  readonly code: 'BLOCK_ISSUED_IN_FUTURE'
  /** Unix time in nanoseconds. */
  readonly issuingTime: bigint
  readonly now: bigint
}

/** The block refers to a slot commitment that this ledger does not have. */
export interface CommitmentUnknown {
  readonly code: 'COMMITMENT_UNKNOWN'
  readonly commitmentId: CommitmentId
}

/** A validation block by an account that does not validate in its slot. */
export interface ValidatorNotInCommittee {
  readonly code: 'VALIDATOR_NOT_IN_COMMITTEE'
  readonly issuerId: AccountId
}

/** A parent of a slot that was committed too long ago. */
export interface ParentTooOld {
  readonly code: 'PARENT_TOO_OLD'
  readonly blockId: BlockId
  readonly oldestSlot: SlotIndex
}

/** A parent that this ledger does not have. */
export interface ParentUnknown {
  readonly code: 'PARENT_UNKNOWN'
  readonly blockId: BlockId
}

/** A parent that was not issued before the block. */
export interface ParentNotOlder {
  readonly code: 'PARENT_NOT_OLDER'
  readonly blockId: BlockId
  /** Of the parent, Unix time in nanoseconds. */
  readonly issuingTime: bigint
}

/** There was no such account that may issue blocks in the slot that the block commits to. */
export interface IssuerUnknown {
  readonly code: 'ISSUER_UNKNOWN'
  readonly issuerId: AccountId
}

/** The price of work in the slot that the block commits to is not known any more. */
export interface ReferenceManaCostUnknown {
  readonly code: 'REFERENCE_MANA_COST_UNKNOWN'
  readonly slot: SlotIndex
}

/** The issuer would burn less mana than the block costs. */
export interface BurnedManaTooLittle {
  readonly code: 'BURNED_MANA_TOO_LITTLE'
  readonly maxBurnedMana: bigint
  readonly cost: bigint
}

/** The issuer has burned more mana than it had. */
export interface IssuerInDebt {
  readonly code: 'ISSUER_IN_DEBT'
  readonly issuerId: AccountId
  readonly credits: bigint
}

/** The issuer could no longer issue blocks in the slot that the block commits to. */
export interface IssuerExpired {
  readonly code: 'ISSUER_EXPIRED'
  readonly issuerId: AccountId
  readonly expirySlot: SlotIndex
}

/** The block is signed with a key that the issuer's account did not list in the slot that the block commits to. */
export interface IssuerKeyUnknown {
  readonly code: 'ISSUER_KEY_UNKNOWN'
  readonly issuerId: AccountId
  readonly publicKey: Hex
}

/** How far a node's clock may be behind the issuer's: a setting of the node, not of the protocol. */
export const usualClockDriftNs = 5_000_000_000n

/**
 * The oldest slot whose blocks may be parents: the last `maxCommittableAge` committed slots are kept for that, and in
 * quiet times more, up to the last slot that has blocks (iota-core `eviction/state.go`, `activeIndexRange`).
 */
export function oldestParentSlot(
  { genesisSlot, maxCommittableAge }: ProtocolParameters,
  committed: SlotIndex,
  newestWithBlocks: SlotIndex,
): SlotIndex {
  if (committed < genesisSlot + maxCommittableAge) return genesisSlot
  return Math.min(committed - maxCommittableAge + 1, newestWithBlocks)
}

/** The first rule that the block breaks. Linear in its parents. */
export function admissionError(
  block: Block,
  context: AdmissionContext,
): AdmissionError | undefined {
  for (const rule of rules) {
    const broken = rule(block, context)
    if (broken !== undefined) return broken
  }
  return undefined
}

type Rule = (block: Block, context: AdmissionContext) => AdmissionError | undefined

/** In the order of the reference, which decides the reason that is given. */
const rules: readonly Rule[] = [
  issuedInTime,
  commitmentKnown,
  issuedByValidator,
  parentsYoung,
  parentsOlder,
  issuerKnown,
  enoughBurned,
  issuerOutOfDebt,
  issuerNotExpired,
  keyKnown,
]

/** The one rule that needs neither ledger nor issuer: whether the block lies too far ahead of the clock. */
export function issuedInTime(
  { header: { issuingTime } }: Block,
  { now, maxClockDriftNs }: Pick<AdmissionContext, 'now' | 'maxClockDriftNs'>,
): AdmissionError | undefined {
  const isAhead = issuingTime > now + maxClockDriftNs
  return isAhead ? { code: 'BLOCK_ISSUED_IN_FUTURE', issuingTime, now } : undefined
}

function commitmentKnown(
  { header: { slotCommitmentId: commitmentId } }: Block,
  { isCommitmentKnown }: AdmissionContext,
): AdmissionError | undefined {
  return isCommitmentKnown(commitmentId) ? undefined : { code: 'COMMITMENT_UNKNOWN', commitmentId }
}

function issuedByValidator(
  { body, header: { issuerId } }: Block,
  { committee }: AdmissionContext,
): AdmissionError | undefined {
  if (is(BasicBlockBody, body) || committee.has(issuerId)) return undefined
  return { code: 'VALIDATOR_NOT_IN_COMMITTEE', issuerId }
}

function parentsYoung(
  { body }: Block,
  { oldestParentSlot: oldestSlot }: AdmissionContext,
): AdmissionError | undefined {
  const blockId = parentsOf(body).find((id) => slotOfId(id) < oldestSlot)
  return blockId && { code: 'PARENT_TOO_OLD', blockId, oldestSlot }
}

function parentsOf(body: Block['body']): BlockId[] {
  return [...body.strongParents, ...body.weakParents, ...body.shallowLikeParents]
}

function parentsOlder(
  { header, body }: Block,
  { issuingTimeOf }: AdmissionContext,
): AdmissionError | undefined {
  for (const blockId of parentsOf(body)) {
    const issuingTime = issuingTimeOf(blockId)
    if (issuingTime === undefined) return { code: 'PARENT_UNKNOWN', blockId }
    if (issuingTime >= header.issuingTime) return { code: 'PARENT_NOT_OLDER', blockId, issuingTime }
  }
  return undefined
}

function issuerKnown(
  { header: { issuerId } }: Block,
  { issuer }: AdmissionContext,
): AdmissionError | undefined {
  return issuer === undefined ? { code: 'ISSUER_UNKNOWN', issuerId } : undefined
}

/** What is burned at last is the work score at a price of the past; this is the promise that covers it. */
function enoughBurned(
  block: Block,
  { parameters, referenceManaCost }: AdmissionContext,
): AdmissionError | undefined {
  const { body, header } = block
  if (referenceManaCost === undefined) {
    return { code: 'REFERENCE_MANA_COST_UNKNOWN', slot: slotOfId(header.slotCommitmentId) }
  }
  if (is(ValidationBlockBody, body)) return undefined
  const cost = BigInt(nodeWorkScore(parameters, block)) * referenceManaCost
  const { maxBurnedMana } = body
  return maxBurnedMana < cost ? { code: 'BURNED_MANA_TOO_LITTLE', maxBurnedMana, cost } : undefined
}

function issuerOutOfDebt(
  { header: { issuerId } }: Block,
  { issuer }: AdmissionContext,
): AdmissionError | undefined {
  if (issuer === undefined || issuer.credits >= 0n) return undefined
  return { code: 'ISSUER_IN_DEBT', issuerId, credits: issuer.credits }
}

function issuerNotExpired(
  { header: { issuerId, slotCommitmentId } }: Block,
  { issuer }: AdmissionContext,
): AdmissionError | undefined {
  if (issuer === undefined || issuer.expirySlot >= slotOfId(slotCommitmentId)) return undefined
  return { code: 'ISSUER_EXPIRED', issuerId, expirySlot: issuer.expirySlot }
}

function keyKnown(
  { header: { issuerId }, signature: { publicKey } }: Block,
  { issuer }: AdmissionContext,
): AdmissionError | undefined {
  if (issuer === undefined || issuer.keyHashes.includes(publicKeyHash(publicKey))) return undefined
  return { code: 'ISSUER_KEY_UNKNOWN', issuerId, publicKey }
}
