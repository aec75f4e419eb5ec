import type { Hex } from '../lib/hex.ts'
import { sum } from '../lib/sum.ts'
import { BlockIssuer, Staking } from './features.ts'
import { writtenChainId } from './ids.ts'
import { CommitmentInput, type ContextInput, type Input, RewardInput } from './inputs.ts'
import { is } from './is.ts'
import { isIdOf } from './network.ts'
import { checkOutput } from './output-syntax.ts'
import { DelegationOutput, isZero, type Output } from './outputs.ts'
import type { ProtocolParameters } from './parameters.ts'
import { type BlockFacts, below, type Report } from './problems.ts'
import { print } from './schema/schema.ts'
import { featuresOf } from './score.ts'
import type { Transaction } from './transaction.ts'
import { EmptyUnlock, MultiUnlock, ReferenceUnlock, SignatureUnlock, Unlock } from './unlocks.ts'

/** The rules of a transaction and its unlocks (codec reference 18.3, 18.4). */

/** Checks a transaction by itself. Paths begin at the transaction. */
export function checkTransaction(
  transaction: Transaction,
  facts: BlockFacts,
  report: Report,
): void {
  const { network } = facts
  if (!isIdOf(network, transaction.networkId)) report.form('TX_NETWORK_ID', 'networkId')
  checkContextInputs(transaction, report)
  checkInputs(transaction.inputs, report)
  checkSums(transaction, network.parameters, report)
  transaction.outputs.forEach((output, i) => {
    checkOutput(output, facts, below(report, 'outputs', i))
  })
  checkChains(transaction.outputs, report)
  checkCommitmentNeeds(transaction, report)
}

/** Checks the unlocks of a transaction. Paths begin at the payload. */
export function checkUnlocks(unlocks: readonly Unlock[], inputs: number, report: Report): void {
  if (unlocks.length !== inputs) report.form('UNLOCKS_MISMATCH', 'unlocks')
  const seen: Seen = { outside: new Map(), inside: new Map() }
  const multis = new Set<string>()
  unlocks.forEach((unlock, i) => {
    const at = below(report, 'unlocks', i)
    if (is(EmptyUnlock, unlock)) at.node('UNLOCK_EMPTY_OUTSIDE_MULTI')
    if (!is(MultiUnlock, unlock)) {
      checkReference(unlock, { unlocks, index: i, multi: undefined }, at)
      checkSignature(unlock, seen, undefined, at)
      return
    }
    const text = JSON.stringify(print(Unlock, unlock))
    if (multis.has(text)) at.node('UNLOCK_MULTI_UNIQUE')
    multis.add(text)
    unlock.unlocks.forEach((member, k) => {
      const inner = below(at, 'unlocks', k)
      checkReference(member, { unlocks, index: i, multi: i }, inner)
      checkSignature(member, seen, i, inner)
    })
  })
}

/** The place of an unlock: its index in the outer list. Inside a multi unlock, `index` and `multi` are both that of the multi unlock. */
interface Place {
  readonly unlocks: readonly Unlock[]
  readonly index: number
  readonly multi: number | undefined
}

/** Checks that a reference points to an earlier unlock of a suitable kind. */
function checkReference(unlock: Unlock, place: Place, report: Report): void {
  if (!('reference' in unlock)) return
  const target = unlock.reference < place.index ? place.unlocks[unlock.reference] : undefined
  if (is(ReferenceUnlock, unlock) && is(MultiUnlock, target) && place.multi === undefined) {
    report.sdk('UNLOCK_REFERENCE_TO_MULTI', 'reference')
  } else if (is(ReferenceUnlock, unlock) && !is(SignatureUnlock, target)) {
    report.form('UNLOCK_REFERENCE', 'reference')
  } else if (target === undefined) {
    report.form('UNLOCK_CHAIN_REFERENCE', 'reference')
  } else if (is(EmptyUnlock, target)) {
    report.node('UNLOCK_EMPTY_OUTSIDE_MULTI', 'reference')
  } else if (is(MultiUnlock, target) && place.multi !== undefined) {
    report.node('UNLOCK_MULTI_INSIDE_MULTI', 'reference')
  }
}

/** The signatures so far, by public key: each with the index of the multi unlock that last contained it. */
interface Seen {
  /** Signatures of unlocks that are not inside a multi unlock. */
  readonly outside: Map<Hex, Signed>
  readonly inside: Map<Hex, Signed>
}

type Signed = Map<Hex, number | undefined>

/**
 * Checks for repeated signatures. By the rules of the node, a key signs once, except inside multi unlocks: their signatures
 * cannot be referred to and are repeated. By the rules of the official SDK, no signature occurs twice, whatever the key.
 */
function checkSignature(
  unlock: Unlock,
  { outside, inside }: Seen,
  multi: number | undefined,
  report: Report,
): void {
  if (!is(SignatureUnlock, unlock)) return
  const { publicKey, signature } = unlock.signature
  const [signedOutside, signedInside] = [outside.get(publicKey), inside.get(publicKey)]
  const isSeen = signedOutside?.has(signature) === true || signedInside?.has(signature) === true
  if (signedOutside !== undefined || (multi === undefined && signedInside !== undefined)) {
    if (isSeen) report.form('UNLOCK_SIGNATURE_UNIQUE', 'signature')
    else report.node('UNLOCK_SIGNATURE_UNIQUE', 'signature')
  } else if (isSeen) {
    const isSame = signedInside?.get(signature) === multi
    report.sdk(
      isSame ? 'UNLOCK_SIGNATURE_TWICE_IN_MULTI' : 'UNLOCK_SIGNATURE_IN_TWO_MULTIS',
      'signature',
    )
  }
  const own = multi === undefined ? outside : inside
  own.set(publicKey, (own.get(publicKey) ?? new Map()).set(signature, multi))
}

function checkContextInputs(transaction: Transaction, report: Report): void {
  const { contextInputs, inputs } = transaction
  const committed = is(CommitmentInput, contextInputs[0])
  contextInputs.forEach((input: ContextInput, i) => {
    const at = below(report, 'contextInputs', i)
    if (!is(CommitmentInput, input) && !committed) at.node('TX_COMMITMENT_REQUIRED')
    if (is(RewardInput, input) && input.index >= inputs.length) at.node('TX_REWARD_INDEX', 'index')
  })
}

function checkInputs(inputs: readonly Input[], report: Report): void {
  const seen = new Set<string>()
  inputs.forEach((input, i) => {
    const key = `${input.transactionId}${input.transactionOutputIndex}`
    if (seen.has(key)) report.form('TX_INPUTS_UNIQUE', 'inputs', i)
    seen.add(key)
    if (input.transactionOutputIndex > 127) {
      report.node('TX_INPUTS_INDEX', 'inputs', i, 'transactionOutputIndex')
    }
  })
}

function checkSums(transaction: Transaction, parameters: ProtocolParameters, report: Report): void {
  const maxMana = 2n ** BigInt(parameters.manaParameters.bitsCount) - 1n
  transaction.allotments.forEach(({ mana }, i) => {
    if (mana === 0n) report.sdk('TX_ALLOTMENTS_ZERO', 'allotments', i, 'mana')
  })
  const allotted = sum(transaction.allotments.map(({ mana }) => mana))
  if (allotted > maxMana) report.form('TX_ALLOTMENTS_SUM', 'allotments')
  const amounts = sum(transaction.outputs.map(({ amount }) => amount))
  if (amounts > parameters.tokenSupply) report.form('TX_AMOUNT_SUM', 'outputs')
  const mana = sum(transaction.outputs.map((output) => ('mana' in output ? output.mana : 0n)))
  if (mana > maxMana) report.node('TX_MANA_SUM', 'outputs')
}

/** Checks that no two outputs are states of the same chain. */
function checkChains(outputs: readonly Output[], report: Report): void {
  const seen = new Set<string>()
  outputs.forEach((output, i) => {
    const chain = chainOf(output)
    if (chain === undefined) return
    if (seen.has(chain)) report.form('TX_CHAIN_UNIQUE', 'outputs', i)
    seen.add(chain)
  })
}

/** Kind and id of the chain of an output; `undefined` while the id is zero. */
function chainOf(output: Output): string | undefined {
  const id = writtenChainId(output)
  return id === undefined || isZero(id) ? undefined : `${output.type}${id}`
}

function checkCommitmentNeeds(transaction: Transaction, report: Report): void {
  if (is(CommitmentInput, transaction.contextInputs[0])) return
  transaction.outputs.forEach((output, i) => {
    const at = below(report, 'outputs', i)
    const features = featuresOf(output)
    if (features.some((one) => is(Staking, one))) at.form('TX_COMMITMENT_FOR_STAKING')
    if (features.some((one) => is(BlockIssuer, one))) at.form('TX_COMMITMENT_FOR_BLOCK_ISSUER')
    if (is(DelegationOutput, output)) at.form('TX_COMMITMENT_FOR_DELEGATION')
  })
}
