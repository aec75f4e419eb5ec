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

/** Number of bytes that are stored beside every output: its id, the block id and the slot. */
const bookkeepingSize = 78n

/** Number of bytes by which the smallest account with a key exceeds the smallest basic output. */
const implicitAccountSize = 76n

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

/** Minimum base tokens of an output. */
export function minimumAmount(prices: StorageScoreParameters, output: Output): bigint {
  return storageScore(prices, output) * prices.storageCost
}

/** Minimum base tokens that a storage deposit return must return to this address. */
export function minimumReturn(prices: StorageScoreParameters, returnAddress: Address): bigint {
  return minimumAmount(prices, plainOutput(returnAddress, 0n, 0n))
}

/** Work score of a block by the rules of the official SDK; 0 for validation blocks. */
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
 * Work score of a block by the rules of the node, which does not count the 4-byte length prefix of a payload inside a
 * transaction (ledger reference 10, row 25).
 */
export function nodeWorkScore(parameters: ProtocolParameters, block: Block): number {
  const { body } = block
  const nested =
    is(BasicBlockBody, body) &&
    is(SignedTransaction, body.payload) &&
    body.payload.transaction.payload
  return workScore(parameters, block) - (nested ? 4 * parameters.workScoreParameters.dataByte : 0)
}

/** The part of the work score that an output contributes. */
export function outputWorkScore(prices: WorkScoreParameters, output: Output): number {
  const foundry = is(FoundryOutput, output) ? prices.nativeToken : 0
  return featuresOf(output).reduce((sum, feature) => {
    if (is(NativeToken, feature)) return sum + prices.nativeToken
    if (is(BlockIssuer, feature)) return sum + prices.blockIssuer
    if (is(Staking, feature)) return sum + prices.staking
    return sum
  }, prices.output + foundry)
}

/** All features of an output except the immutable features. */
export function featuresOf(output: Output): readonly Feature[] {
  return 'features' in output ? output.features : []
}

export function immutableFeaturesOf(output: Output): readonly Feature[] {
  return 'immutableFeatures' in output ? output.immutableFeatures : []
}

/** Counts implicit account creation addresses. Runs for each spent or created output, so it allocates no lists. */
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
