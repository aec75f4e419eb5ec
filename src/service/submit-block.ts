import { unsupportedPart } from '../ledger/not-supported.ts'
import type { NotSupportedYet } from '../ledger/transaction-error.ts'
import type { Clock } from '../lib/clock.ts'
import type { Hex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { PreparedTransaction } from '../node/prepared-transaction.ts'
import { prepareTransaction } from '../node/prepared-transaction.ts'
import type { SignatureCheckBusy, SignatureChecker } from '../node/signatures.ts'
import type { IssuerNotConfigured, LedgerSource, SubmitRefused } from '../node/source.ts'
import { Block, maxBlockSize } from '../protocol/block.ts'
import { identifyBlock, publicKeyHash, slotOfId } from '../protocol/ids.ts'
import type { AccountId, BlockId, CommitmentId, SlotIndex } from '../protocol/primitives.ts'
import type { Refusal } from '../protocol/schema/refusal.ts'
import { decode, encode, parse } from '../protocol/schema/schema.ts'
import { slotOfTime } from '../protocol/slots.ts'
import { blockProblems } from '../protocol/syntax.ts'
import { Payload } from '../protocol/transaction.ts'
import type { StoreReader } from '../store/contract.ts'

/** Takes a block in: everything is checked that needs no booking, then it is kept (ledger reference 2.1). */

/** What submitting needs. */
export interface SubmitBlockDeps {
  readonly store: {
    readonly read: Pick<StoreReader, 'block' | 'account' | 'milestoneByCommitment'>
  }
  readonly source: LedgerSource
  readonly signatures: Pick<SignatureChecker, 'check'>
  readonly clock: Clock
}

/** A block as it came: serialized, as JSON, or a payload alone, around which the node builds a block. */
export type Submission =
  | { readonly form: 'bytes'; readonly bytes: Uint8Array }
  | { readonly form: 'json'; readonly json: unknown }
  | { readonly form: 'payload'; readonly json: unknown }

/** Why a block was refused; `place` names the offending member where there is one. */
export type SubmitBlockError =
  | BlockMalformed
  | NotSupportedYet
  | BlockIssuedInFuture
  | CommitmentUnknown
  | IssuerUnknown
  | IssuerExpired
  | IssuerKeyUnknown
  | BlockSignatureInvalid
  | SignatureCheckBusy
  | IssuerNotConfigured
  | SubmitRefused

/** The bytes or the JSON are no block, or break a rule of form. */
export interface BlockMalformed {
  readonly code: 'BLOCK_MALFORMED'
  readonly refusal: Refusal
}

/** The issuing time lies more than five seconds ahead. */
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

/** There is no such account that may issue blocks. */
export interface IssuerUnknown {
  readonly code: 'ISSUER_UNKNOWN'
  readonly issuerId: AccountId
}

/** The issuer may no longer issue blocks. */
export interface IssuerExpired {
  readonly code: 'ISSUER_EXPIRED'
  readonly issuerId: AccountId
  readonly expirySlot: SlotIndex
}

/** The block is signed with a key that the issuer's account does not list. */
export interface IssuerKeyUnknown {
  readonly code: 'ISSUER_KEY_UNKNOWN'
  readonly issuerId: AccountId
  readonly publicKey: Hex
}

/** The signature does not fit the block. */
export interface BlockSignatureInvalid {
  readonly code: 'BLOCK_SIGNATURE_INVALID'
  readonly publicKey: Hex
}

/** Checks and keeps a block. From the success on it is durable; the same block again gives the same id. */
export async function submitBlock(
  deps: SubmitBlockDeps,
  submission: Submission,
): Promise<Result<BlockId, SubmitBlockError>> {
  const received = await receive(deps, submission)
  if (!received.ok) return received
  const { block, bytes, blockId, slot, signingInput } = received.value
  if ((await deps.store.read.block(blockId)) !== undefined) return ok(blockId)
  // Before its references are looked up: a ledger that catches up does not have what the block rightly refers to.
  const unavailable = deps.source.unavailable()
  if (unavailable !== undefined) return err(unavailable)
  const refused = await checkAgainstLedger(deps, block)
  if (refused !== undefined) return err(refused)
  const signed = await checkSignatures(deps, block, signingInput)
  if (!signed.ok) return signed
  return deps.source.submit({ block, bytes, blockId, slot, transaction: signed.value })
}

interface Received {
  readonly block: Block
  readonly bytes: Uint8Array
  readonly blockId: BlockId
  readonly slot: SlotIndex
  readonly signingInput: Uint8Array
}

/** Reads the submission and applies every rule of form. */
async function receive(
  deps: SubmitBlockDeps,
  submission: Submission,
): Promise<Result<Received, SubmitBlockError>> {
  const read = await readSubmission(deps, submission)
  if (!read.ok) return read
  const { block, bytes } = read.value
  const { network } = deps.source
  const from = submission.form === 'bytes' ? 'bytes' : 'json'
  const [problem] = blockProblems(block, { network, bytes, from })
  if (problem !== undefined) {
    const { of: _, ...refusal } = problem
    return err({ code: 'BLOCK_MALFORMED', refusal })
  }
  const unsupported = unsupportedIn(block)
  if (unsupported !== undefined) return err(unsupported)
  const slot = slotOfTime(network.parameters, block.header.issuingTime)
  const { blockId, signingInput } = identifyBlock(bytes, slot)
  return ok({ block, bytes, blockId, slot, signingInput })
}

async function readSubmission(
  deps: SubmitBlockDeps,
  submission: Submission,
): Promise<Result<{ readonly block: Block; readonly bytes: Uint8Array }, SubmitBlockError>> {
  if (submission.form === 'bytes') {
    const { bytes } = submission
    if (bytes.length > maxBlockSize) return malformed({ code: 'BLOCK_SIZE', path: '' })
    const block = decode(Block, bytes)
    return block.ok ? ok({ block: block.value, bytes }) : malformed(block.error)
  }
  if (submission.form === 'json') {
    const block = parse(Block, submission.json)
    if (!block.ok) return malformed(block.error)
    return ok({ block: block.value, bytes: encode(Block, block.value) })
  }
  const payload = parse(Payload, submission.json)
  if (!payload.ok) return malformed(payload.error)
  const unavailable = deps.source.unavailable()
  if (unavailable !== undefined) return err(unavailable)
  const issued = await deps.source.issue(payload.value)
  return issued.ok ? ok({ block: issued.value, bytes: encode(Block, issued.value) }) : issued
}

function malformed(refusal: Refusal): { readonly ok: false; readonly error: BlockMalformed } {
  return err({ code: 'BLOCK_MALFORMED', refusal })
}

/** What this ledger does not judge yet is not let through. */
function unsupportedIn({ body }: Block): NotSupportedYet | undefined {
  if (body.type === 1) return { code: 'NOT_SUPPORTED_YET', path: 'body' }
  if (body.payload?.type === 2) return { code: 'NOT_SUPPORTED_YET', path: 'body.payload' }
  if (body.payload?.type !== 1) return undefined
  const part = unsupportedPart(body.payload.transaction)
  return part && { code: part.code, path: `body.payload.${part.path}` }
}

/** A clock may be this far behind the issuer's. */
const maxClockDriftNs = 5_000_000_000n

async function checkAgainstLedger(
  { store, clock }: SubmitBlockDeps,
  { header, signature }: Block,
): Promise<SubmitBlockError | undefined> {
  const { issuingTime, slotCommitmentId: commitmentId, issuerId } = header
  const now = clock.nowNs()
  if (issuingTime > now + maxClockDriftNs)
    return { code: 'BLOCK_ISSUED_IN_FUTURE', issuingTime, now }
  const [milestone, account] = await Promise.all([
    store.read.milestoneByCommitment(commitmentId),
    store.read.account(issuerId),
  ])
  if (milestone === undefined) return { code: 'COMMITMENT_UNKNOWN', commitmentId }
  if (account === undefined || account.keyHashes.length === 0)
    return { code: 'ISSUER_UNKNOWN', issuerId }
  const { expirySlot } = account
  if (expirySlot < slotOfId(commitmentId)) return { code: 'ISSUER_EXPIRED', issuerId, expirySlot }
  const { publicKey } = signature
  if (account.keyHashes.includes(publicKeyHash(publicKey))) return undefined
  return { code: 'ISSUER_KEY_UNKNOWN', issuerId, publicKey }
}

/** The block's own signature must be right; those of its transaction are noted for its booking. */
async function checkSignatures(
  { signatures }: SubmitBlockDeps,
  { body, signature }: Block,
  message: Uint8Array,
): Promise<Result<PreparedTransaction | undefined, SubmitBlockError>> {
  const verdict = await signatures.check([{ ...signature, message }])
  if (!verdict.ok) return verdict
  if (verdict.value[0] !== true) {
    return err({ code: 'BLOCK_SIGNATURE_INVALID', publicKey: signature.publicKey })
  }
  if (body.type === 1 || body.payload?.type !== 1) return ok(undefined)
  return prepareTransaction(signatures, body.payload)
}
