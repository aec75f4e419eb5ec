import { type Address, ImplicitAccountCreationAddress } from './addresses.ts'
import { BasicBlockBody, type Block, ValidationBlockBody } from './block.ts'
import { BlockIssuer, type Feature, NativeToken, Staking } from './features.ts'
import { is } from './is.ts'
import { DelegationOutput, FoundryOutput, Output, plainOutput } from './outputs.ts'
import type {
  ProtocolParameters,
  StorageScoreParameters,
  WorkScoreParameters,
} from './parameters.ts'
import { encode } from './schema/schema.ts'
import { Payload, SignedTransaction } from './transaction.ts'
import type { UnlockCondition } from './unlock-conditions.ts'
import { MultiUnlock, SignatureUnlock, type Unlock } from './unlocks.ts'

/** Storage score and work score (codec reference 16, 17). */

/** Bytes kept beside every output: its id, the block's id, the slot. */
const bookkeepingSize = 78n

/** Bytes that a smallest account with a key has over a smallest basic output. */
const implicitAccountSize = 76n

/** What an output costs to keep, in score. */
export function storageScore(prices: StorageScoreParameters, output: Output): bigint {
  const size = BigInt(encode(Output, output).length)
  const factor = BigInt(prices.factorData)
  const fixed = prices.offsetOutputOverhead + factor * (bookkeepingSize + size)
  const delegation = is(DelegationOutput, output) ? prices.offsetDelegation : 0n
  const implicitAccounts = countImplicitAddresses(output)
  const implicitPrice = factor * implicitAccountSize + prices.offsetEd25519BlockIssuerKey
  const features = featuresOf(output).reduce((sum, one) => sum + featureScore(prices, one), 0n)
  const score = fixed + delegation + features
  return implicitAccounts === 0 ? score : score + BigInt(implicitAccounts) * implicitPrice
}

/** The least base tokens that an output must hold. */
export function minimumAmount(prices: StorageScoreParameters, output: Output): bigint {
  return storageScore(prices, output) * prices.storageCost
}

/** The least base tokens that a storage deposit return must give back to this address. */
export function minimumReturn(prices: StorageScoreParameters, returnAddress: Address): bigint {
  return minimumAmount(prices, plainOutput(returnAddress, 0n, 0n))
}

/** What a block costs to process, as the official SDK counts it; 0 for validation blocks. */
export function workScore(parameters: ProtocolParameters, block: Block): number {
  const prices = parameters.workScoreParameters
  if (is(ValidationBlockBody, block.body)) return 0
  const { payload } = block.body
  if (payload === undefined) return prices.block
  const data = prices.dataByte * encode(Payload, payload).length
  const contents = is(SignedTransaction, payload) ? transactionScore(prices, payload) : 0
  return prices.block + data + contents
}

/**
 * What the node charges: it leaves out the 4 bytes of length before a payload inside a transaction (ledger
 * reference 10, row 25).
 */
export function nodeWorkScore(parameters: ProtocolParameters, block: Block): number {
  const { body } = block
  const nested =
    is(BasicBlockBody, body) &&
    is(SignedTransaction, body.payload) &&
    body.payload.transaction.payload
  return workScore(parameters, block) - (nested ? 4 * parameters.workScoreParameters.dataByte : 0)
}

/** The part of the work score that an output makes up. */
export function outputWorkScore(prices: WorkScoreParameters, output: Output): number {
  const foundry = is(FoundryOutput, output) ? prices.nativeToken : 0
  return featuresOf(output).reduce((sum, feature) => {
    if (is(NativeToken, feature)) return sum + prices.nativeToken
    if (is(BlockIssuer, feature)) return sum + prices.blockIssuer
    if (is(Staking, feature)) return sum + prices.staking
    return sum
  }, prices.output + foundry)
}

/** All features of an output but the immutable ones. */
export function featuresOf(output: Output): readonly Feature[] {
  return 'features' in output ? output.features : []
}

/** All immutable features of an output. */
export function immutableFeaturesOf(output: Output): readonly Feature[] {
  return 'immutableFeatures' in output ? output.immutableFeatures : []
}

/** Runs for every output that is spent or created, so it makes no lists. */
function countImplicitAddresses(output: Output): number {
  let count = 0
  for (const part of output.unlockConditions) if (hasImplicitAddress(part)) count += 1
  for (const part of featuresOf(output)) if (hasImplicitAddress(part)) count += 1
  for (const part of immutableFeaturesOf(output)) if (hasImplicitAddress(part)) count += 1
  return count
}

function hasImplicitAddress(part: UnlockCondition | Feature): boolean {
  if ('address' in part) return is(ImplicitAccountCreationAddress, part.address)
  return 'returnAddress' in part && is(ImplicitAccountCreationAddress, part.returnAddress)
}

function featureScore(prices: StorageScoreParameters, feature: Feature): bigint {
  if (is(BlockIssuer, feature)) {
    return prices.offsetEd25519BlockIssuerKey * BigInt(feature.blockIssuerKeys.length)
  }
  return is(Staking, feature) ? prices.offsetStakingFeature : 0n
}

function transactionScore(prices: WorkScoreParameters, payload: SignedTransaction): number {
  const { transaction, unlocks } = payload
  return (
    prices.contextInput * transaction.contextInputs.length +
    prices.input * transaction.inputs.length +
    prices.allotment * transaction.allotments.length +
    transaction.outputs.reduce((sum, output) => sum + outputWorkScore(prices, output), 0) +
    prices.signatureEd25519 * countSignatures(unlocks)
  )
}

function countSignatures(unlocks: readonly Unlock[]): number {
  return unlocks.reduce((count, unlock) => {
    if (is(MultiUnlock, unlock)) return count + countSignatures(unlock.unlocks)
    return is(SignatureUnlock, unlock) ? count + 1 : count
  }, 0)
}
