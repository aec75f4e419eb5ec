import { examine, type ManaAccount, type RuleName, ruleNames } from '../../ledger/execute.ts'
import { isOfCarrier } from '../../ledger/failure-reasons.ts'
import { identifyGenesis } from '../../ledger/genesis.ts'
import {
  inputIds,
  type KnownLedger,
  type KnownOutput,
  resolveReferences,
} from '../../ledger/resolve.ts'
import {
  claimReward,
  type RewardOverflow,
  rewardClaimOf,
  rewardHistoryAt,
} from '../../ledger/reward-claims.ts'
import { failureReasonOf, type TransactionError } from '../../ledger/transaction-error.ts'
import type { ResolvedInput } from '../../ledger/working-set.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { type PreparedTransaction, prepareTransaction } from '../../node/prepared-transaction.ts'
import type { SignatureCheckBusy } from '../../node/signatures.ts'
import { BasicBlockBody, Block } from '../../protocol/block.ts'
import { identifyTransaction, slotOfId } from '../../protocol/ids.ts'
import { BlockIssuanceCreditInput, CommitmentInput, RewardInput } from '../../protocol/inputs.ts'
import { is } from '../../protocol/is.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type {
  AccountId,
  CommitmentId,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../../protocol/primitives.ts'
import { isOfNode } from '../../protocol/problems.ts'
import type { Refusal } from '../../protocol/schema/refusal.ts'
import { decode, encode, parse } from '../../protocol/schema/schema.ts'
import { epochOfSlot } from '../../protocol/slots.ts'
import { blockProblems } from '../../protocol/syntax.ts'
import { SignedTransaction, type Transaction } from '../../protocol/transaction.ts'
import { Ed25519Signature } from '../../protocol/unlocks.ts'
import type { EpochRow, TransactionState } from '../../store/rows.ts'
import { failureReason, type PublishedFailure } from '../blocks/failure-reason.ts'
import { listedHere, type NotOffered } from '../network/not-offered.ts'
import { viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'

/** What would happen to a transaction now, were it submitted in a block of this moment. Nothing is kept of it. */

/** What judging needs. */
export type SimulateDeps = Pick<Services, 'store' | 'source' | 'signatures' | 'clock'>

/** A transaction with its unlocks, as JSON of the protocol or serialized. */
export type SimulatedSubmission =
  | { readonly form: 'json'; readonly json: unknown }
  | { readonly form: 'bytes'; readonly bytes: Uint8Array }

/** What would happen. */
export type Simulation = {
  readonly transactionId: TransactionId
} & (
  | { readonly outcome: 'KNOWN'; readonly state: TransactionState }
  /** No block of this moment may carry it. */
  | { readonly outcome: 'REFUSED'; readonly refusal: Refusal }
  | ({ readonly outcome: 'FAILED'; readonly failure: FailureInDetail } & Broken & Examined)
  | ({ readonly outcome: 'ACCEPTED' } & Examined)
)

/** Why the transaction would fail: as published, and what is wrong with which input, output or sum. */
export interface FailureInDetail extends PublishedFailure {
  readonly error: TransactionError
}

/** How far the rules held. */
export interface Examined {
  readonly passed: readonly RuleName[]
  readonly mana: ManaAccount | undefined
}

/** The rule that is broken; `undefined` where what the transaction refers to is not there or is spent. */
export interface Broken {
  readonly broken: RuleName | undefined
}

/** Why nothing can be said. */
export type SimulateTransactionError = TransactionMalformed | SignatureCheckBusy | NotOffered

/** The bytes or the JSON are no signed transaction. */
export interface TransactionMalformed {
  readonly code: 'TRANSACTION_MALFORMED'
  readonly refusal: Refusal
}

/** Judges a transaction against the ledger as it is booked now. */
export async function simulateTransaction(
  deps: SimulateDeps,
  submission: SimulatedSubmission,
): Promise<Result<Simulation, SimulateTransactionError>> {
  const payload =
    submission.form === 'json'
      ? parse(SignedTransaction, submission.json)
      : decode(SignedTransaction, submission.bytes)
  if (!payload.ok) return err({ code: 'TRANSACTION_MALFORMED', refusal: payload.error })
  return await simulateDecoded(deps, payload.value)
}

/** The same of a transaction that was read before. */
export async function simulateDecoded(
  deps: SimulateDeps,
  payload: SignedTransaction,
): Promise<Result<Simulation, SignatureCheckBusy | NotOffered>> {
  const refusal = await refusalOf(deps, payload)
  const { transactionId } = identifyTransaction(payload.transaction)
  const known = await deps.store.read.transaction(transactionId)
  // A failure of the carrier says nothing about another one, with these unlocks or now.
  if (known !== undefined && !isOfCarrier(known.failureReason)) {
    return ok({ transactionId, outcome: 'KNOWN', state: known.state })
  }
  if (refusal !== undefined) return ok({ transactionId, outcome: 'REFUSED', refusal })
  const offered = notOfferedFor(deps, payload.transaction)
  if (!offered.ok) return offered
  // Only now: what is known or refused may have a thousand signatures.
  const prepared = await prepareTransaction(deps.signatures, payload)
  if (!prepared.ok) return prepared
  const ledger = await ledgerFor(deps, payload.transaction)
  return ok({ transactionId, ...examineAgainst(deps, prepared.value, ledger) })
}

/** The first rule of form that it breaks in a block of this moment; the path is within the signed transaction. */
async function refusalOf(
  { source, clock }: Pick<Services, 'source' | 'clock'>,
  payload: SignedTransaction,
): Promise<Refusal | undefined> {
  const { network } = source
  // The rules of form do not ask which block is referred to.
  const strongParents = [identifyGenesis(network.parameters, []).blockId]
  const block: Block = {
    header: {
      protocolVersion: network.parameters.version,
      networkId: network.id,
      issuingTime: clock.nowNs(),
      slotCommitmentId: source.status().latestCommitmentId,
      latestFinalizedSlot: source.status().latestCommittedSlot,
      issuerId: zeros as AccountId,
    },
    body: {
      type: BasicBlockBody.code,
      strongParents,
      weakParents: [],
      shallowLikeParents: [],
      payload,
      maxBurnedMana: 0n,
    },
    signature: { type: Ed25519Signature.code, publicKey: zeros, signature: `0x${'00'.repeat(64)}` },
  }
  const problems = blockProblems(block, { network, bytes: encode(Block, block), from: 'json' })
  const problem = problems
    .filter(isOfNode)
    .find(({ path }) => path === '' || path.startsWith(payloadPath))
  return problem && { code: problem.code, path: problem.path.slice(payloadPath.length) }
}

const zeros: Hex = `0x${'00'.repeat(32)}`
const payloadPath = 'body.payload.'

/** A node has neither the credits nor the rewards that a transaction may refer to. */
export function notOfferedFor(
  { source }: Pick<Services, 'source'>,
  { contextInputs }: Transaction,
): Result<undefined, NotOffered> {
  const isOffered = contextInputs.every((input) => is(CommitmentInput, input))
  return isOffered ? ok(undefined) : listedHere(source, 'the accounts and rewards this refers to')
}

/** Judges a transaction against a ledger. */
export function examineAgainst(
  { source }: Pick<Services, 'source'>,
  prepared: PreparedTransaction,
  ledger: KnownLedger,
) {
  const { transaction, unlocks } = prepared.payload
  const { parameters } = source.network
  const resolved = resolveReferences(transaction, ledger)
  if (!resolved.ok) {
    const failure = inDetail(resolved.error)
    return { outcome: 'FAILED', failure, passed: [], broken: undefined, mana: undefined } as const
  }
  const { passed, verdict, mana } = examine({
    ...resolved.value,
    parameters,
    transaction,
    transactionId: prepared.identity.transactionId,
    unlocks,
    isSignatureValid: prepared.isSignatureValid,
  })
  if (verdict.ok) return { outcome: 'ACCEPTED', passed, mana } as const
  const broken = ruleNames[passed.length]
  return { outcome: 'FAILED', failure: inDetail(verdict.error), passed, broken, mana } as const
}

function inDetail(error: TransactionError): FailureInDetail {
  return { ...present(failureReason(failureReasonOf(error)), 'a reason'), error }
}

/** Everything that the transaction refers to, read beforehand. */
export async function ledgerFor(
  { store, source }: Pick<Services, 'store' | 'source'>,
  transaction: Transaction,
): Promise<KnownLedger> {
  const { read } = store
  const { parameters } = source.network
  const commitment = transaction.contextInputs.find((input) => is(CommitmentInput, input))
  const slot = commitment === undefined ? 0 : slotOfId(commitment.commitmentId)
  const accounts = transaction.contextInputs.flatMap((input) =>
    is(BlockIssuanceCreditInput, input) ? [input.accountId] : [],
  )
  const claims = transaction.contextInputs.some((input) => is(RewardInput, input))
  const earliest = epochOfSlot(parameters, slot) - parameters.rewardsParameters.retentionPeriod - 1
  const [outputById, milestone, entries, epochs] = await Promise.all([
    outputsOf(read, inputIds(transaction)),
    commitment && read.milestoneByCommitment(commitment.commitmentId),
    Promise.all(accounts.map((accountId) => read.accountEntry(accountId, slot))),
    claims ? read.epochs(Math.max(earliest, 0)) : [],
  ])
  const entryById = new Map(accounts.map((accountId, i) => [accountId, entries[i]]))
  return {
    outputById,
    isCommitmentKnown: (id: CommitmentId) => milestone?.commitmentId === id,
    creditsAt: (accountId: AccountId) => entryById.get(accountId)?.credits,
    rewardAt: (input, at) => rewardAt(parameters, epochs, { input, slot: at }),
  }
}

async function outputsOf(
  read: Services['store']['read'],
  ids: readonly OutputId[],
): Promise<ReadonlyMap<OutputId, KnownOutput>> {
  const [rows, { slot: committed }] = await Promise.all([read.outputs(ids), read.latestMilestone()])
  return new Map(
    rows.map(viewOfOutput).map((view) => {
      const { outputId, spentSlot } = view
      const isFinal = spentSlot !== undefined && spentSlot <= committed
      const spentIn = spentSlot === undefined ? undefined : isFinal ? 'COMMITTED' : 'ACCEPTED'
      return [outputId, { output: view.output(), spentIn }]
    }),
  )
}

/** What an input may claim under a commitment to a slot, from the epochs that were over then. */
function rewardAt(
  parameters: ProtocolParameters,
  epochs: readonly EpochRow[],
  { input, slot }: { readonly input: ResolvedInput; readonly slot: SlotIndex },
): Result<bigint, RewardOverflow> {
  const claim = rewardClaimOf(parameters, input, slot)
  if (claim === undefined) return ok(0n)
  const claimed = claimReward(parameters, rewardHistoryAt(parameters, epochs, slot), claim)
  return claimed.ok ? ok(claimed.value.reward) : claimed
}
