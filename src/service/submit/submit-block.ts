import {
  type AdmissionError,
  admissionError,
  defaultMaxClockDriftNs,
  issuedInTime,
  oldestParentSlot,
} from '../../ledger/admission.ts'
import { genesisBlockId } from '../../ledger/genesis.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { inSpan } from '../../lib/tracing.ts'
import { type PreparedTransaction, prepareTransaction } from '../../node/prepared-transaction.ts'
import { committedSlot } from '../../node/recent-commitments.ts'
import type { SignatureCheckBusy } from '../../node/signatures.ts'
import type { IssuerNotConfigured, LedgerSource, SubmitRefused } from '../../node/source.ts'
import type { DiskLow } from '../../node/space-watch.ts'
import { Block, maxBlockSize, ValidationBlockBody } from '../../protocol/block.ts'
import { identifyBlock, slotOfId } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import type { BlockId, SlotIndex } from '../../protocol/primitives.ts'
import { isOfNode } from '../../protocol/problems.ts'
import { locate } from '../../protocol/schema/offset.ts'
import type { Refusal } from '../../protocol/schema/refusal.ts'
import { decode, encode, type Form, parse } from '../../protocol/schema/schema.ts'
import { epochOfSlot, nsPerSecond, slotOfTime } from '../../protocol/slots.ts'
import { blockProblems } from '../../protocol/syntax.ts'
import { CandidacyAnnouncement, Payload, SignedTransaction } from '../../protocol/transaction.ts'
import type { Services } from '../services.ts'
import { signedReading } from './signed-reading.ts'
import type { DailyQuotaExceeded, SubmissionQuota } from './submission-quota.ts'

/** Accepts a block: applies every check that needs no booking, then stores the block (ledger reference 2.1). */

/** A submission: a block as bytes or as JSON, or a payload alone, for which the node builds a block. */
export type Submission = Form | { readonly form: 'payload'; readonly json: unknown }

type Needed = Pick<Services, 'store' | 'source' | 'signatures' | 'clock' | 'space'>

interface Counted extends Needed {
  readonly quota: SubmissionQuota
}

/** The quota of submissions by the gateway itself. */
const unlimited: SubmissionQuota = {
  takePayload: () => undefined,
  takeBytes: () => undefined,
  giveBackBytes: () => {},
}

/** Why a block was refused. For a malformed block, `refusal` has the path of the malformed member. */
export type SubmitBlockError =
  | BlockMalformed
  | AdmissionError
  | BlockSignatureInvalid
  | SignatureCheckBusy
  | IssuerNotConfigured
  | AnnouncementWithoutBlock
  | SubmitRefused
  | DailyQuotaExceeded
  | DiskLow

/** The bytes or the JSON are not a block, or break a rule of form. */
export interface BlockMalformed {
  readonly code: 'BLOCK_MALFORMED'
  readonly refusal: Refusal
}

/** A candidacy announcement without a block is refused: the node would announce its own account at the request of any client. */
export interface AnnouncementWithoutBlock {
  readonly code: 'ANNOUNCEMENT_WITHOUT_BLOCK'
}

export interface BlockSignatureInvalid {
  readonly code: 'BLOCK_SIGNATURE_INVALID'
  readonly publicKey: Hex
}

/** Checks and stores a block. After a success the block is durable; a repeated submission returns the same id. */
export async function submitBlock(
  deps: Needed,
  submission: Submission,
  quota: SubmissionQuota = unlimited,
): Promise<Result<BlockId, SubmitBlockError>> {
  const submit = (counting: SubmissionQuota) =>
    inSpan('submit block', () => accept({ ...deps, quota: counting }, submission))
  const accepted = await submit(quota)
  if (submission.form !== 'payload' || !isRefusedForTime(deps.source, accepted)) return accepted
  if (isClockBehind(deps.source)) return err({ code: 'LEDGER_UNAVAILABLE', reason: 'CLOCK_BEHIND' })
  // The slot of the block was closed while a busy process checked it. The next block has a later time; the payload has been counted.
  const again = await submit({ ...quota, takePayload: unlimited.takePayload })
  const isLate = isRefusedForTime(deps.source, again)
  return isLate ? err({ code: 'LEDGER_UNAVAILABLE', reason: 'STARTING' }) : again
}

/** Whether a block that the node built for a payload was refused because of its time, which the client did not set. */
function isRefusedForTime(
  source: LedgerSource,
  accepted: Result<BlockId, SubmitBlockError>,
): boolean {
  if (accepted.ok) return false
  const { error } = accepted
  if (ownTimeCodes.has(error.code)) return true
  if (error.code !== 'BLOCK_MALFORMED') return false
  const { code } = error.refusal
  return ownTimeCodes.has(code) || (transactionTimeCodes.has(code) && isClockBehind(source))
}

/** Whether the clock of the node was set back, also by less than the amount from which it refuses every block. */
function isClockBehind({ network, status }: LedgerSource): boolean {
  const { slot, latestCommittedSlot } = status()
  return slot < latestCommittedSlot + network.parameters.minCommittableAge
}

/** Codes about the time or the commitment of the block itself. */
const ownTimeCodes: ReadonlySet<string> = new Set([
  'BLOCK_ISSUED_IN_FUTURE',
  'SLOT_CLOSED',
  'PARENT_NOT_OLDER',
  'HEADER_COMMITMENT_TOO_RECENT',
  'HEADER_COMMITMENT_TOO_OLD',
])

/** Codes about a time or commitment in the transaction that does not fit the time or commitment of the block. */
const transactionTimeCodes: ReadonlySet<string> = new Set([
  'BLOCK_TX_CREATION_SLOT',
  'BLOCK_TX_COMMITMENT_RANGE',
  'BLOCK_TX_COMMITMENT_NEWER',
])

async function accept(
  deps: Counted,
  submission: Submission,
): Promise<Result<BlockId, SubmitBlockError>> {
  const received = await receive(deps, submission)
  if (!received.ok) return received
  const { blockId } = received.value
  const isKnown = async () => (await deps.store.primary.block(blockId)) !== undefined
  const isKeptHere = deps.source.node === undefined
  if (!isKeptHere && (await isKnown())) return ok(blockId)
  const stored = await checkAndStore(deps, received.value)
  if (stored.ok || !isKeptHere || !(await isKnown())) return stored
  // A block that was accepted in time stays accepted, however late it is submitted again. After a crash, a primary may show rows
  // that its standby does not have. A later write waits for the standby, and so also for these rows.
  if (deps.store.isShared) await deps.store.write.acceptBlocks([])
  return ok(blockId)
}

async function checkAndStore(
  deps: Counted,
  received: Received,
): Promise<Result<BlockId, SubmitBlockError>> {
  const signed = await check(deps, received)
  if (!signed.ok) return signed
  const { block, bytes, blockId, slot } = received
  const exceeded = deps.quota.takeBytes(bytes.length)
  if (exceeded !== undefined) return err(exceeded)
  const submitted = await deps.source.submit({
    ...{ block, bytes, blockId, slot },
    transaction: signed.value,
  })
  // Nothing was added if the block was refused, or if the client repeats a submission because it missed the response.
  if (!submitted.ok || submitted.value === 'KNOWN') deps.quota.giveBackBytes(bytes.length)
  return submitted.ok ? ok(blockId) : submitted
}

/** Applies every check that needs the ledger, and checks the signatures. */
async function check(
  deps: Needed,
  { block, signingInput }: Received,
): Promise<Result<PreparedTransaction | undefined, SubmitBlockError>> {
  // Before the references are looked up: a ledger that is catching up does not have everything that a valid block refers to.
  const unavailable = deps.source.unavailable() ?? deps.space.low()
  if (unavailable !== undefined) return err(unavailable)
  // The upstream node has the accounts and parents, so it applies the checks that need them.
  const isCheckedHere = deps.source.node === undefined
  const refused = isCheckedHere ? await checkAgainstLedger(deps, block) : checkClock(deps, block)
  if (refused !== undefined) return err(refused)
  return checkSignatures(deps, block, signingInput)
}

/** Returns why a block would be refused if it were submitted now; `undefined` if it would be accepted. Nothing is stored. */
export async function simulateSubmission(
  deps: Needed,
  submission: Exclude<Submission, { readonly form: 'payload' }>,
): Promise<SubmitBlockError | undefined> {
  const received = await receive({ ...deps, quota: unlimited }, submission)
  if (!received.ok) return received.error
  const { blockId, slot } = received.value
  if ((await deps.store.primary.block(blockId)) !== undefined) return undefined
  const checked = await check(deps, received.value)
  if (!checked.ok) return checked.error
  const isLate = deps.source.node === undefined && slot <= deps.source.status().latestCommittedSlot
  return isLate ? { code: 'SLOT_CLOSED', slot } : undefined
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
  deps: Counted,
  submission: Submission,
): Promise<Result<Received, SubmitBlockError>> {
  const read = await readSubmission(deps, submission)
  if (!read.ok) return read
  const { block, bytes } = read.value
  const { network } = deps.source
  const from = submission.form === 'bytes' ? 'bytes' : 'json'
  const problem = blockProblems(block, { network, bytes, from }).find(isOfNode)
  if (problem !== undefined) {
    const { code, path } = problem
    const offset = from === 'bytes' ? { offset: locate(Block, bytes, path) } : {}
    return malformed({ code, path, ...offset })
  }
  const slot = slotOfTime(network.parameters, block.header.issuingTime)
  const { blockId, signingInput } = identifyBlock(bytes, slot)
  return ok({ block, bytes, blockId, slot, signingInput })
}

async function readSubmission(
  deps: Counted,
  submission: Submission,
): Promise<Result<{ readonly block: Block; readonly bytes: Uint8Array }, SubmitBlockError>> {
  if (submission.form === 'bytes') {
    const { bytes } = submission
    if (bytes.length > maxBlockSize) return malformed({ code: 'BLOCK_SIZE', path: '' })
    const block = decode(Block, bytes)
    return block.ok ? ok({ block: block.value, bytes }) : malformed(block.error)
  }
  if (submission.form === 'json') {
    const parsed = parse(Block, submission.json)
    if (!parsed.ok) return malformed(parsed.error)
    const { parameters } = deps.source.network
    const block = await signedReading({ signatures: deps.signatures, parameters }, parsed.value)
    return block.ok ? ok({ block: block.value, bytes: encode(Block, block.value) }) : block
  }
  const payload = parse(Payload, submission.json)
  if (!payload.ok) return malformed(payload.error)
  if (is(CandidacyAnnouncement, payload.value)) return err({ code: 'ANNOUNCEMENT_WITHOUT_BLOCK' })
  const unavailable = deps.source.unavailable() ?? deps.space.low() ?? deps.quota.takePayload()
  if (unavailable !== undefined) return err(unavailable)
  const issued = await deps.source.issue(payload.value)
  return issued.ok ? ok({ block: issued.value, bytes: encode(Block, issued.value) }) : issued
}

function malformed(refusal: Refusal): { readonly ok: false; readonly error: BlockMalformed } {
  return err({ code: 'BLOCK_MALFORMED', refusal })
}

function checkClock({ clock }: Pick<Services, 'clock'>, block: Block): AdmissionError | undefined {
  return issuedInTime(block, { now: clock.nowNs(), maxClockDriftNs: defaultMaxClockDriftNs })
}

/** Applies the checks that need the ledger, before the signature is checked. */
async function checkAgainstLedger(
  { store, source, clock }: Needed,
  block: Block,
): Promise<AdmissionError | undefined> {
  const { parameters } = source.network
  const { slotCommitmentId, issuerId, issuingTime } = block.header
  const { strongParents, weakParents, shallowLikeParents } = block.body
  const parents = [...strongParents, ...weakParents, ...shallowLikeParents]
  const slot = slotOfId(slotCommitmentId)
  const slotOfBlock = slotOfTime(parameters, issuingTime)
  const isVote = is(ValidationBlockBody, block.body)
  const epoch = isVote ? epochOfSlot(parameters, slotOfBlock) : 0
  const [milestone, issuer, timeById, epochs, oldestParent] = await Promise.all([
    store.primary.milestoneByCommitment(slotCommitmentId),
    store.primary.accountEntry(issuerId, slot),
    store.primary.issuingTimes(parents),
    isVote ? store.primary.epochs(epoch) : [],
    oldestParentOf({ store, source }, slotOfBlock, parents),
  ])
  const committee = epochs.find((row) => row.epoch === epoch)?.committee ?? []
  const genesisTime = (id: BlockId) =>
    id === genesisBlockId(parameters) ? parameters.genesisUnixTimestamp * nsPerSecond : undefined
  return admissionError(block, {
    parameters,
    now: clock.nowNs(),
    maxClockDriftNs: defaultMaxClockDriftNs,
    isCommitmentKnown: () => milestone !== undefined,
    committee: new Set(committee.map(({ accountId }) => accountId)),
    oldestParentSlot: oldestParent,
    issuingTimeOf: (id) => timeById.get(id) ?? genesisTime(id),
    issuer,
    referenceManaCost: milestone && committedSlot(milestone).commitment.referenceManaCost,
  })
}

/** The oldest slot that a parent may have. The slot of the newest block is read only if the result depends on it. */
async function oldestParentOf(
  { store, source }: Pick<Services, 'store' | 'source'>,
  slot: SlotIndex,
  parents: readonly BlockId[],
): Promise<SlotIndex> {
  const { parameters } = source.network
  const { latestCommittedSlot } = source.status()
  // The inbox refuses a block that is itself too late.
  if (slot <= latestCommittedSlot) return parameters.genesisSlot
  const oldest = oldestParentSlot(parameters, latestCommittedSlot, latestCommittedSlot)
  if (parents.every((id) => slotOfId(id) >= oldest)) return oldest
  const newest = await store.primary.newestSlotWithBlocks(latestCommittedSlot)
  return oldestParentSlot(parameters, latestCommittedSlot, newest ?? parameters.genesisSlot)
}

/** Checks the signature of the block. The results for the signatures of its transaction are kept for the booking. */
async function checkSignatures(
  { signatures }: Pick<Services, 'signatures'>,
  { body, signature }: Block,
  message: Uint8Array,
): Promise<Result<PreparedTransaction | undefined, SubmitBlockError>> {
  const verdict = await signatures.check([{ ...signature, message }])
  if (!verdict.ok) return verdict
  if (verdict.value[0] !== true) {
    return err({ code: 'BLOCK_SIGNATURE_INVALID', publicKey: signature.publicKey })
  }
  if (is(ValidationBlockBody, body) || !is(SignedTransaction, body.payload)) return ok(undefined)
  return prepareTransaction(signatures, body.payload)
}
