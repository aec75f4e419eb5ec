import { examine, type ManaAccount, type RuleName, ruleNames } from '../../ledger/execute.ts'
import { isOfCarrier } from '../../ledger/failure-reasons.ts'
import { genesisBlockId } from '../../ledger/genesis.ts'
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
import { decodeOrParse, encode, type Form } from '../../protocol/schema/schema.ts'
import { epochOfSlot } from '../../protocol/slots.ts'
import { blockProblems } from '../../protocol/syntax.ts'
import { SignedTransaction, type Transaction } from '../../protocol/transaction.ts'
import { Ed25519Signature } from '../../protocol/unlocks.ts'
import type { EpochRow, TransactionState } from '../../store/rows.ts'
import { failureReason, type PublishedFailure } from '../blocks/failure-reason.ts'
import { checkOffered, type NotOffered } from '../network/not-offered.ts'
import { viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'

/** Simulates a transaction as if it were submitted now in a block. Nothing is stored. */

/** The services that a simulation uses. */
export type SimulateDeps = Pick<Services, 'store' | 'source' | 'signatures' | 'clock'>

export type Simulation = {
  readonly transactionId: TransactionId
} & (
  | { readonly outcome: 'KNOWN'; readonly state: TransactionState }
  /** No block issued now may carry the transaction. */
  | { readonly outcome: 'REFUSED'; readonly refusal: Refusal }
  | ({ readonly outcome: 'FAILED'; readonly failure: FailureInDetail } & Broken & Examined)
  | ({ readonly outcome: 'ACCEPTED' } & Examined)
)

/** Why the transaction would fail: the published reason, and the failing input, output or sum. */
export interface FailureInDetail extends PublishedFailure {
  readonly error: TransactionError
}

/** The fulfilled rules, and the mana of the transaction. */
export interface Examined {
  readonly passed: readonly RuleName[]
  readonly mana: ManaAccount | undefined
}

/** The broken rule; `undefined` if an input or other reference of the transaction is missing or spent. */
export interface Broken {
  readonly broken: RuleName | undefined
}

/** Why the simulation is refused. */
export type SimulateTransactionError = TransactionMalformed | SignatureCheckBusy | NotOffered

/** The bytes or the JSON are not a signed transaction. */
export interface TransactionMalformed {
  readonly code: 'TRANSACTION_MALFORMED'
  readonly refusal: Refusal
}

/** Simulates a transaction against the ledger as of all booked transactions. */
export async function simulateTransaction(
  deps: SimulateDeps,
  given: Form,
): Promise<Result<Simulation, SimulateTransactionError>> {
  const payload = decodeOrParse(SignedTransaction, given)
  if (!payload.ok) return err({ code: 'TRANSACTION_MALFORMED', refusal: payload.error })
  return await simulateDecoded(deps, payload.value)
}

/** Simulates a decoded transaction. */
export async function simulateDecoded(
  deps: SimulateDeps,
  payload: SignedTransaction,
): Promise<Result<Simulation, SignatureCheckBusy | NotOffered>> {
  const refusal = await refusalOf(deps, payload)
  const { transactionId } = identifyTransaction(payload.transaction)
  const known = await deps.store.read.transaction(transactionId)
  // A failure that belongs to the block says nothing about another block, with these unlocks or at this time.
  if (known !== undefined && !isOfCarrier(known.failureReason)) {
    return ok({ transactionId, outcome: 'KNOWN', state: known.state })
  }
  if (refusal !== undefined) return ok({ transactionId, outcome: 'REFUSED', refusal })
  const offered = notOfferedFor(deps, payload.transaction)
  if (!offered.ok) return offered
  // Signatures are checked last: a known or refused transaction may have a thousand of them.
  const prepared = await prepareTransaction(deps.signatures, payload)
  if (!prepared.ok) return prepared
  const ledger = await ledgerFor(deps, payload.transaction)
  return ok({ transactionId, ...examineAgainst(deps, prepared.value, ledger) })
}

/** The first rule of form that the transaction breaks in a block issued now; the path is within the signed transaction. */
async function refusalOf(
  { source, clock }: Pick<Services, 'source' | 'clock'>,
  payload: SignedTransaction,
): Promise<Refusal | undefined> {
  const { network } = source
  // The rules of form do not depend on the parent.
  const strongParents = [genesisBlockId(network.parameters)]
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

/** Refuses a transaction that refers to credits or rewards in upstream mode, where a node serves neither. */
export function notOfferedFor(
  { source }: Pick<Services, 'source'>,
  { contextInputs }: Transaction,
): Result<undefined, NotOffered> {
  const isOffered = contextInputs.every((input) => is(CommitmentInput, input))
  if (isOffered) return ok(undefined)
  return checkOffered(source, 'the accounts and rewards that the transaction refers to')
}

/** Executes a transaction against a ledger. */
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

/** Reads all data that the transaction refers to. */
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

/** The reward that an input may claim under a commitment to a slot, from the epochs that were over then. */
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
