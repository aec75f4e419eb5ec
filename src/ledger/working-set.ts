import type { Hex } from '../lib/hex.ts'
import { slotOfId } from '../protocol/ids.ts'
import { CommitmentInput } from '../protocol/inputs.ts'
import { is } from '../protocol/is.ts'
import type { Output } from '../protocol/outputs.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, OutputId, SlotIndex, TransactionId } from '../protocol/primitives.ts'
import type { Transaction } from '../protocol/transaction.ts'
import type { Signature, Unlock } from '../protocol/unlocks.ts'
import { type Chains, chainsOf } from './chains.ts'
import { type TokenSums, tokenSums } from './token-sums.ts'

/** Everything the rules of one execution read, and what they find out for one another. */

/** A transaction that has passed the rules of form, with what it refers to. */
export interface ExecutionRequest extends ResolvedReferences {
  readonly parameters: ProtocolParameters
  readonly transaction: Transaction
  readonly transactionId: TransactionId
  /** One for each input. */
  readonly unlocks: readonly Unlock[]
  /** Whether a signature among the unlocks fits its own key and the signing hash; checked beforehand. */
  readonly isSignatureValid: (signature: Signature) => boolean
}

/** What the inputs and context inputs of a transaction stand for. */
export interface ResolvedReferences {
  /** One for each input, in the same order, none of them spent. */
  readonly inputs: readonly ResolvedInput[]
  /** Of the accounts that credit inputs name: their credits at the slot of the commitment input. */
  readonly credits: ReadonlyMap<AccountId, bigint>
  /** Of the inputs that reward inputs name, by index: the mana claimed. */
  readonly rewards: ReadonlyMap<number, bigint>
}

/** An output that is to be spent. */
export interface ResolvedInput {
  readonly outputId: OutputId
  readonly output: Output
  /** The slot in its transaction id, from which its mana counts. */
  readonly creationSlot: SlotIndex
}

/** The request, its clock, its chains, and the notes that earlier rules leave for later ones. */
export interface WorkingSet extends ExecutionRequest {
  readonly clock: TransactionClock | undefined
  readonly chains: Chains
  readonly tokens: TokenSums
  /** Filled by the unlocking of the inputs; the key is the address key. */
  readonly unlockedByAddress: Map<Hex, UnlockedAddress>
  /** Filled by the unlocking of the inputs: H(public key) of those that are unlocked by a signature of their own. */
  readonly signerByInput: (Hex | undefined)[]
  /** Filled by the summing of mana. */
  readonly mana: ManaSums
}

/** The time of a transaction, which only its commitment input gives (ledger reference 0.1). */
export interface TransactionClock {
  /** The slot of the commitment. */
  readonly slot: SlotIndex
  /** No block can carry the transaction in a slot before this one. */
  readonly futureBounded: SlotIndex
  /** No block can carry the transaction in a slot after this one. */
  readonly pastBounded: SlotIndex
}

/** An address that was unlocked: by which input, and which further inputs refer to that. */
export interface UnlockedAddress {
  readonly input: number
  readonly referringInputs: number[]
}

/** The mana of both sides; rewards count as inputs. */
export interface ManaSums {
  inputs: bigint
  outputs: bigint
  /** Stored mana that is left and potential mana of each input. */
  readonly byInput: bigint[]
}

/** Lays out the set for one execution. */
export function workingSet(request: ExecutionRequest): WorkingSet {
  const { inputs } = request
  const { outputs } = request.transaction
  // Every member is named: spreading an object costs more than any rule.
  return {
    parameters: request.parameters,
    transaction: request.transaction,
    transactionId: request.transactionId,
    unlocks: request.unlocks,
    inputs,
    credits: request.credits,
    rewards: request.rewards,
    isSignatureValid: request.isSignatureValid,
    clock: clockOf(request),
    chains: chainsOf(inputs, outputs),
    tokens: tokenSums(inputs, outputs),
    unlockedByAddress: new Map(),
    signerByInput: [],
    mana: { inputs: 0n, outputs: 0n, byInput: [] },
  }
}

function clockOf({ transaction, parameters }: ExecutionRequest): TransactionClock | undefined {
  const commitment = transaction.contextInputs.find((input) => is(CommitmentInput, input))
  if (commitment === undefined) return undefined
  const slot = slotOfId(commitment.commitmentId)
  return {
    slot,
    futureBounded: slot + parameters.minCommittableAge,
    pastBounded: slot + parameters.maxCommittableAge,
  }
}
