import type { Address, MultiAddress, WeightedAddress } from '../../src/protocol/addresses.ts'
import type { NativeToken } from '../../src/protocol/features.ts'
import type { RewardInput } from '../../src/protocol/inputs.ts'
import type { DelegationOutput, SimpleTokenScheme } from '../../src/protocol/outputs.ts'
import type { AccountId } from '../../src/protocol/primitives.ts'
import type { SignedTransaction } from '../../src/protocol/transaction.ts'
import type {
  Expiration,
  StorageDepositReturn,
  Timelock,
} from '../../src/protocol/unlock-conditions.ts'
import type { MultiUnlock, Unlock } from '../../src/protocol/unlocks.ts'

/** Functions by type name. Each changes a random object so that its members satisfy the syntactic rules of the type. */
export const repairs: ReadonlyMap<string, (value: never) => object> = new Map<
  string,
  (value: never) => object
>([
  ['RewardInput', (input: RewardInput) => ({ ...input, index: input.index % 129 })],
  ['ReferenceUnlock', withinReach],
  ['AccountUnlock', withinReach],
  ['AnchorUnlock', withinReach],
  ['NFTUnlock', withinReach],
  ['WeightedAddress', (member: WeightedAddress) => ({ ...member, weight: member.weight || 1 })],
  ['MultiAddress', withReachableThreshold],
  ['TimelockUnlockCondition', withSlot],
  ['ExpirationUnlockCondition', (condition: Expiration) => explicit(withSlot(condition))],
  ['StorageDepositReturnUnlockCondition', explicit],
  ['NativeTokenFeature', (token: NativeToken) => ({ ...token, amount: token.amount || 1n })],
  ['SimpleTokenScheme', sound],
  ['DelegationOutput', withValidator],
  ['SignedTransactionPayload', inSomeNumbering],
])

function withinReach<T extends { readonly reference: number }>(unlock: T): T {
  return { ...unlock, reference: unlock.reference % 127 }
}

function withReachableThreshold(address: MultiAddress): MultiAddress {
  const sum = address.addresses.reduce((weights, { weight }) => weights + weight, 0)
  return { ...address, threshold: 1 + (address.threshold % sum) }
}

function withSlot<T extends Timelock | Expiration>(condition: T): T {
  return { ...condition, slot: condition.slot || 1 }
}

function explicit<T extends Expiration | StorageDepositReturn>(condition: T): T {
  const { returnAddress } = condition
  if (returnAddress.type !== 32) return condition
  const address: Address = { type: 0, pubKeyHash: returnAddress.pubKeyHash }
  return { ...condition, returnAddress: address }
}

function sound({ type, ...supply }: SimpleTokenScheme): SimpleTokenScheme {
  const inOrder = supply.meltedTokens <= supply.mintedTokens
  const mintedTokens = inOrder ? supply.mintedTokens : supply.meltedTokens
  const meltedTokens = inOrder ? supply.meltedTokens : supply.mintedTokens
  const circulating = mintedTokens - meltedTokens || 1n
  const maximumSupply = supply.maximumSupply < circulating ? circulating : supply.maximumSupply
  return { type, mintedTokens, meltedTokens, maximumSupply }
}

function withValidator(output: DelegationOutput): DelegationOutput {
  const accountId = output.validatorAddress.accountId.replace(/..$/, '01') as AccountId
  return { ...output, validatorAddress: { type: 8, accountId } }
}

/** Gives some transactions with context inputs the documented numbering, which has no anchor unlock. */
function inSomeNumbering(payload: SignedTransaction): SignedTransaction {
  const { transaction, unlocks } = payload
  if (transaction.contextInputs.length === 0 || transaction.creationSlot % 2 === 0) return payload
  return {
    ...payload,
    transaction: { ...transaction, numbering: 'documented' },
    unlocks: unlocks.map(withoutAnchors),
  }
}

function withoutAnchors(unlock: Unlock): Unlock {
  if (unlock.type !== 5) return notAnchor(unlock)
  return { ...unlock, unlocks: unlock.unlocks.map(notAnchor) }
}

function notAnchor(unlock: MultiUnlock['unlocks'][number]): MultiUnlock['unlocks'][number] {
  return unlock.type === 3 ? { type: 4, reference: unlock.reference } : unlock
}
