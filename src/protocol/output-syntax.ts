import {
  AccountAddress,
  type Address,
  AnchorAddress,
  ImplicitAccountCreationAddress,
  maskBits,
  NftAddress,
  RestrictedAddress,
} from './addresses.ts'
import { BlockIssuer, NativeToken, Staking } from './features.ts'
import { foundryId } from './ids.ts'
import { is } from './is.ts'
import {
  AccountOutput,
  AnchorOutput,
  BasicOutput,
  DelegationOutput,
  FoundryOutput,
  isZero,
  NftOutput,
  type Output,
} from './outputs.ts'
import type { ProtocolParameters } from './parameters.ts'
import type { BlockFacts, Report } from './problems.ts'
import { maxMetadataSize, sizeOfEntries } from './schema/metadata-map.ts'
import type { RefusalCode } from './schema/refusal.ts'
import { featuresOf, minimumAmount, minimumReturn } from './score.ts'
import {
  AddressUnlock,
  type allUnlockConditions,
  Expiration,
  Governor,
  StateController,
  StorageDepositReturn,
  Timelock,
  type UnlockCondition,
} from './unlock-conditions.ts'

/** The rules of one output (codec reference 18.3, 18.5). Paths begin at the output. */

export function checkOutput(output: Output, facts: BlockFacts, report: Report): void {
  checkAmounts(output, facts.network.parameters, report)
  checkImplicitAddresses(output, report)
  checkRestrictions(output, report)
  checkMetadata(output, report)
  if (is(AccountOutput, output)) checkAccount(output, report)
  if (is(AnchorOutput, output)) checkAnchor(output, report)
  if (is(FoundryOutput, output)) checkFoundry(output, facts, report)
  if (is(NftOutput, output)) checkNft(output, report)
}

function checkAmounts(output: Output, parameters: ProtocolParameters, report: Report): void {
  const prices = parameters.storageScoreParameters
  if (output.amount < minimumAmount(prices, output)) report.form('TX_STORAGE_DEPOSIT', 'amount')
  conditionsOf(output).forEach((condition, i) => {
    if (!is(StorageDepositReturn, condition)) return
    const place = ['unlockConditions', i, 'amount'] as const
    if (condition.amount > output.amount) report.form('TX_RETURN_EXCEEDS_AMOUNT', ...place)
    if (condition.amount < minimumReturn(prices, condition.returnAddress)) {
      report.form('TX_RETURN_BELOW_MINIMUM', ...place)
    }
  })
}

/** An implicit account creation address may hold only basic outputs without further conditions. */
function checkImplicitAddresses(output: Output, report: Report): void {
  if (is(BasicOutput, output) && output.unlockConditions.length === 1) return
  conditionsOf(output).forEach((condition, i) => {
    if (!('address' in condition) || !is(ImplicitAccountCreationAddress, condition.address)) return
    report.node('OUTPUT_IMPLICIT_ADDRESS', 'unlockConditions', i, 'address')
  })
}

/** Checks the maximum size of metadata, which the node applies only to mutable metadata. */
function checkMetadata(output: Output, report: Report): void {
  featuresOf(output).forEach((feature, i) => {
    if ('entries' in feature && sizeOfEntries(feature.entries) > maxMetadataSize) {
      report.form('FEATURE_METADATA_SIZE', 'features', i, 'entries')
    }
  })
}

/** The properties of an output that a restricted address must allow, in the order of the bits (codec reference 9). */
const restrictions: readonly { readonly rule: RefusalCode; has(output: Output): boolean }[] = [
  {
    rule: 'OUTPUT_RESTRICTED_NATIVE_TOKENS',
    has: (o) => featuresOf(o).some((f) => is(NativeToken, f)),
  },
  { rule: 'OUTPUT_RESTRICTED_MANA', has: (o) => 'mana' in o && o.mana > 0n },
  { rule: 'OUTPUT_RESTRICTED_TIMELOCK', has: (o) => hasCondition(o, Timelock) },
  { rule: 'OUTPUT_RESTRICTED_EXPIRATION', has: (o) => hasCondition(o, Expiration) },
  {
    rule: 'OUTPUT_RESTRICTED_STORAGE_DEPOSIT_RETURN',
    has: (o) => hasCondition(o, StorageDepositReturn),
  },
  { rule: 'OUTPUT_RESTRICTED_ACCOUNT', has: (o) => is(AccountOutput, o) },
  { rule: 'OUTPUT_RESTRICTED_ANCHOR', has: (o) => is(AnchorOutput, o) },
  { rule: 'OUTPUT_RESTRICTED_NFT', has: (o) => is(NftOutput, o) },
  { rule: 'OUTPUT_RESTRICTED_DELEGATION', has: (o) => is(DelegationOutput, o) },
]

function checkRestrictions(output: Output, report: Report): void {
  conditionsOf(output).forEach((condition, i) => {
    const [member, address] = receiverOf(condition)
    if (!is(RestrictedAddress, address)) return
    const allowed = maskBits(address.allowedCapabilities)
    restrictions.forEach(({ rule, has }, bit) => {
      if ((allowed >> bit) % 2 === 0 && has(output)) {
        report.form(rule, 'unlockConditions', i, member)
      }
    })
  })
}

/** The address that may own the output by this condition, with its member name. A storage deposit return creates another output. */
function receiverOf(condition: UnlockCondition): readonly [string, Address | undefined] {
  if (is(Expiration, condition)) return ['returnAddress', condition.returnAddress]
  if (is(AddressUnlock, condition) || is(StateController, condition) || is(Governor, condition)) {
    return ['address', condition.address]
  }
  return ['', undefined]
}

function checkAccount(output: AccountOutput, report: Report): void {
  const fresh = isZero(output.accountId)
  if (fresh && output.foundryCounter !== 0)
    report.form('OUTPUT_ACCOUNT_NEW_STATE', 'foundryCounter')
  output.unlockConditions.forEach(({ address }, i) => {
    if (!is(AccountAddress, address) || address.accountId !== output.accountId) return
    const place = ['unlockConditions', i, 'address'] as const
    if (fresh) report.node('OUTPUT_ACCOUNT_CYCLIC', ...place)
    else report.form('OUTPUT_ACCOUNT_CYCLIC', ...place)
  })
  output.features.forEach((feature, i) => {
    if (!is(Staking, feature)) return
    if (feature.stakedAmount > output.amount) {
      report.form('OUTPUT_ACCOUNT_STAKED_AMOUNT', 'features', i, 'stakedAmount')
    }
    if (!output.features.some((one) => is(BlockIssuer, one))) {
      report.form('OUTPUT_ACCOUNT_STAKING_NEEDS_BLOCK_ISSUER', 'features')
    }
  })
}

function checkAnchor(output: AnchorOutput, report: Report): void {
  if (isZero(output.anchorId) && output.stateIndex !== 0) {
    report.form('OUTPUT_ANCHOR_NEW_STATE', 'stateIndex')
  }
  output.unlockConditions.forEach(({ address }, i) => {
    if (!is(AnchorAddress, address) || address.anchorId !== output.anchorId) return
    const place = ['unlockConditions', i, 'address'] as const
    // A zero id does not denote the new anchor.
    if (isZero(output.anchorId)) report.sdk('OUTPUT_ANCHOR_CYCLIC', ...place)
    else report.form('OUTPUT_ANCHOR_CYCLIC', ...place)
  })
}

function checkFoundry(output: FoundryOutput, facts: BlockFacts, report: Report): void {
  if (output.serialNumber === 0 && facts.from === 'json') {
    // The node accepts the block, and the transaction fails when it is executed.
    report.sdk('OUTPUT_FOUNDRY_SERIAL_ZERO', 'serialNumber')
  }
  output.features.forEach((feature, i) => {
    if (is(NativeToken, feature) && feature.id !== foundryId(output)) {
      report.node('OUTPUT_FOUNDRY_TOKEN_ID', 'features', i, 'id')
    }
  })
}

function checkNft(output: NftOutput, report: Report): void {
  output.unlockConditions.forEach((condition, i) => {
    if (!is(AddressUnlock, condition) || !is(NftAddress, condition.address) || isZero(output.nftId))
      return
    if (condition.address.nftId === output.nftId) {
      report.form('OUTPUT_NFT_CYCLIC', 'unlockConditions', i, 'address')
    }
  })
}

function conditionsOf(output: Output): readonly UnlockCondition[] {
  return output.unlockConditions
}

function hasCondition(output: Output, kind: (typeof allUnlockConditions)[number]): boolean {
  return conditionsOf(output).some((condition) => is(kind, condition))
}
