import type { Hex } from '../lib/hex.ts'
import { BasicBlockBody, type Block, ValidationBlockBody } from '../protocol/block.ts'
import { publicKeyHash, slotOfId } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, BlockId, CommitmentId, SlotIndex } from '../protocol/primitives.ts'
import { nodeWorkScore } from '../protocol/score.ts'
import type { AccountEntry } from './accounts.ts'

/**
 * Decides whether a well-formed block is admitted, by the rules that need a clock, the commitments, the parents and the issuer (ledger
 * reference 2.1, rows 15 to 28). The syntactic rules are checked before, and the signature of the issuer, which is expensive, after.
 */

/** The data that a block is checked against. */
export interface AdmissionContext {
  readonly parameters: ProtocolParameters
  /** Unix time in nanoseconds. */
  readonly now: bigint
  /** Maximum nanoseconds by which the issuing time may be after `now`. */
  readonly maxClockDriftNs: bigint
  readonly isCommitmentKnown: (commitmentId: CommitmentId) => boolean
  /** The validators of the block's slot; empty without a known committee. */
  readonly committee: ReadonlySet<AccountId>
  /** Parents of earlier slots are too old. */
  readonly oldestParentSlot: SlotIndex
  /** The issuing time of a known block. */
  readonly issuingTimeOf: (blockId: BlockId) => bigint | undefined
  /** The issuer's entry at the end of the slot that the block commits to. */
  readonly issuer: IssuerTerms | undefined
  /** The reference mana cost in the commitment to that slot. */
  readonly referenceManaCost: bigint | undefined
}

/** The members of an issuer's entry that the rules read. */
export type IssuerTerms = Pick<AccountEntry, 'credits' | 'expirySlot' | 'keyHashes'>

/** Why a block is not admitted. Times are Unix times in nanoseconds. */
export type AdmissionError =
  /** The issuing time is further in the future than the allowed clock drift. */
  | { readonly code: 'BLOCK_ISSUED_IN_FUTURE'; readonly issuingTime: bigint; readonly now: bigint }
  /** The block refers to a slot commitment that is unknown here. */
  | { readonly code: 'COMMITMENT_UNKNOWN'; readonly commitmentId: CommitmentId }
  /** The issuer of a validation block is not in the committee of its slot. */
  | { readonly code: 'VALIDATOR_NOT_IN_COMMITTEE'; readonly issuerId: AccountId }
  /** The slot of a parent was committed too long ago. */
  | { readonly code: 'PARENT_TOO_OLD'; readonly blockId: BlockId; readonly oldestSlot: SlotIndex }
  | { readonly code: 'PARENT_UNKNOWN'; readonly blockId: BlockId }
  /** A parent, whose issuing time is given, was not issued before the block. */
  | { readonly code: 'PARENT_NOT_OLDER'; readonly blockId: BlockId; readonly issuingTime: bigint }
  /** The account did not exist, or could not issue blocks, in the slot that the block commits to. */
  | { readonly code: 'ISSUER_UNKNOWN'; readonly issuerId: AccountId }
  /** The reference mana cost of the slot that the block commits to is no longer known. */
  | { readonly code: 'REFERENCE_MANA_COST_UNKNOWN'; readonly slot: SlotIndex }
  /** The `maxBurnedMana` of the block is less than its cost. */
  | {
      readonly code: 'BURNED_MANA_TOO_LITTLE'
      readonly maxBurnedMana: bigint
      readonly cost: bigint
    }
  /** The issuer has burned more mana than it had. */
  | { readonly code: 'ISSUER_IN_DEBT'; readonly issuerId: AccountId; readonly credits: bigint }
  /** The issuer could no longer issue blocks in the slot that the block commits to. */
  | {
      readonly code: 'ISSUER_EXPIRED'
      readonly issuerId: AccountId
      readonly expirySlot: SlotIndex
    }
  /** The issuer's account did not list the signing key in the slot that the block commits to. */
  | { readonly code: 'ISSUER_KEY_UNKNOWN'; readonly issuerId: AccountId; readonly publicKey: Hex }

/** Default maximum by which a node's clock may lag the issuer's clock: a setting of the node, not of the protocol. */
export const defaultMaxClockDriftNs = 5_000_000_000n

/**
 * The oldest slot whose blocks may be parents: the first of the last `maxCommittableAge` committed slots, or the last slot with blocks if
 * that is earlier (iota-core `eviction/state.go`, `activeIndexRange`).
 */
export function oldestParentSlot(
  { genesisSlot, maxCommittableAge }: ProtocolParameters,
  committed: SlotIndex,
  newestWithBlocks: SlotIndex,
): SlotIndex {
  if (committed < genesisSlot + maxCommittableAge) return genesisSlot
  return Math.min(committed - maxCommittableAge + 1, newestWithBlocks)
}

/** The error of the first rule that the block breaks. Linear in the number of parents. */
export function admissionError(
  block: Block,
  context: AdmissionContext,
): AdmissionError | undefined {
  for (const rule of rules) {
    const broken = rule(block, context)
    if (broken !== undefined) return broken
  }
  return issuerError(block, context)
}

/** The part of the context that the rules about the issuer need. */
export type IssuerContext = Pick<AdmissionContext, 'parameters' | 'issuer' | 'referenceManaCost'>

/** The error of the first rule about the issuer that the block breaks, except the rule about its signature. */
export function issuerError(block: Block, context: IssuerContext): AdmissionError | undefined {
  for (const rule of issuerRules) {
    const broken = rule(block, context)
    if (broken !== undefined) return broken
  }
  return undefined
}

type Rule<Context> = (block: Block, context: Context) => AdmissionError | undefined

/** In the order of the reference. The order decides which error is reported. */
const rules: readonly Rule<AdmissionContext>[] = [
  issuedInTime,
  commitmentKnown,
  issuedByValidator,
  parentsRecent,
  parentsOlder,
]

/** They follow the other rules, in this order. */
const issuerRules: readonly Rule<IssuerContext>[] = [
  issuerKnown,
  enoughBurned,
  issuerOutOfDebt,
  issuerNotExpired,
  keyKnown,
]

/** The block must not be issued too far in the future. This rule needs neither the ledger nor the issuer. */
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

function parentsRecent(
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
  { issuer }: IssuerContext,
): AdmissionError | undefined {
  return issuer === undefined ? { code: 'ISSUER_UNKNOWN', issuerId } : undefined
}

/** `maxBurnedMana` must cover the cost. The mana that is burned later is the work score times the price of an earlier slot. */
function enoughBurned(
  block: Block,
  { parameters, referenceManaCost }: IssuerContext,
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
  { issuer }: IssuerContext,
): AdmissionError | undefined {
  if (issuer === undefined || issuer.credits >= 0n) return undefined
  return { code: 'ISSUER_IN_DEBT', issuerId, credits: issuer.credits }
}

function issuerNotExpired(
  { header: { issuerId, slotCommitmentId } }: Block,
  { issuer }: IssuerContext,
): AdmissionError | undefined {
  if (issuer === undefined || issuer.expirySlot >= slotOfId(slotCommitmentId)) return undefined
  return { code: 'ISSUER_EXPIRED', issuerId, expirySlot: issuer.expirySlot }
}

function keyKnown(
  { header: { issuerId }, signature: { publicKey } }: Block,
  { issuer }: IssuerContext,
): AdmissionError | undefined {
  if (issuer === undefined || issuer.keyHashes.includes(publicKeyHash(publicKey))) return undefined
  return { code: 'ISSUER_KEY_UNKNOWN', issuerId, publicKey }
}
