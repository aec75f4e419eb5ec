import type { Hex } from '../lib/hex.ts'
import { slotOfId } from '../protocol/ids.ts'
import { CommitmentInput } from '../protocol/inputs.ts'
import { is } from '../protocol/is.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, SlotIndex, TransactionId } from '../protocol/primitives.ts'
import type { Transaction } from '../protocol/transaction.ts'
import type { Signature, Unlock } from '../protocol/unlocks.ts'
import { type Chains, chainsOf } from './chains.ts'
import type { LedgerOutput } from './output-parts.ts'
import { type TokenSums, tokenSums } from './token-sums.ts'

/** The data that the rules of one execution read, and the results that they pass on to later rules. */

/** A transaction that has passed the syntactic rules, with its resolved references. */
export interface ExecutionRequest extends ResolvedReferences {
  readonly parameters: ProtocolParameters
  readonly transaction: Transaction
  readonly transactionId: TransactionId
  /** One unlock per input. */
  readonly unlocks: readonly Unlock[]
  /** Whether a signature of the unlocks is valid for its public key and the signing hash. Checked beforehand. */
  readonly isSignatureValid: (signature: Signature) => boolean
}

/** The resolved inputs and context inputs of a transaction. */
export interface ResolvedReferences {
  /** The unspent outputs of the inputs, in the same order. */
  readonly inputs: readonly ResolvedInput[]
  /** The credits of the accounts that credit inputs name, at the slot of the commitment input. */
  readonly credits: ReadonlyMap<AccountId, bigint>
  /** The claimed mana by the index of the input that a reward input names. */
  readonly rewards: ReadonlyMap<number, bigint>
}

/** An output that an input spends. */
export interface ResolvedInput extends LedgerOutput {
  /** The slot in its transaction id. Its mana is counted from this slot. */
  readonly creationSlot: SlotIndex
}

/** The request, its clock, its chains, and the results of earlier rules. */
export interface WorkingSet extends ExecutionRequest {
  readonly clock: TransactionClock | undefined
  readonly chains: Chains
  readonly tokens: TokenSums
  /** Unlocked addresses by address key. `inputsUnlocked` fills it. */
  readonly unlockedByAddress: Map<Hex, UnlockedAddress>
  /** H(public key) of each input that its own signature unlocks. `inputsUnlocked` fills it. */
  readonly signerByInput: (Hex | undefined)[]
  /** `manaSummed` fills it. */
  readonly mana: ManaSums
}

/** The time of a transaction. Only its commitment input determines it (ledger reference 0.1). */
export interface TransactionClock {
  /** The slot of the commitment. */
  readonly slot: SlotIndex
  /** No block can carry the transaction in a slot before this one. */
  readonly futureBounded: SlotIndex
  /** No block can carry the transaction in a slot after this one. */
  readonly pastBounded: SlotIndex
}

/** An unlocked address: the input that unlocked it, and the inputs that refer to that input. */
export interface UnlockedAddress {
  readonly input: number
  readonly referringInputs: number[]
}

/** The mana of both sides. Rewards count as inputs. */
export interface ManaSums {
  inputs: bigint
  outputs: bigint
  /** Decayed stored mana plus potential mana of each input. */
  readonly byInput: bigint[]
}

export function workingSet(request: ExecutionRequest): WorkingSet {
  const { inputs } = request
  const { outputs } = request.transaction
  // Every member is listed, because spreading an object costs more than any rule.
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
