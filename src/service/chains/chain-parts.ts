import { conditionOf, featureOf, issuerOf } from '../../ledger/output-parts.ts'
import { ownerAt } from '../../ledger/updates.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { BlockIssuer, Metadata, Staking, StateMetadata } from '../../protocol/features.ts'
import { addressKey } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import { AccountOutput } from '../../protocol/outputs.ts'
import type { FoundryId } from '../../protocol/primitives.ts'
import { immutableFeaturesOf } from '../../protocol/score.ts'
import { Governor, ImmutableAccount, StateController } from '../../protocol/unlock-conditions.ts'
import type { Services } from '../services.ts'
import { type ChainView, chainKinds, stateOf } from './read-chain.ts'

/** Parts of the newest state of a chain, or of the last state of a destroyed chain. Addresses are keys. */

/** The issuer of a chain, which never changes; `undefined` if the chain has none. */
export function issuerOfChain({ last }: ChainView): Hex | undefined {
  const issuer = last && issuerOf(last.output())
  return issuer && addressKey(issuer)
}

export function immutableMetadataOf({ last }: ChainView): Metadata | undefined {
  return last && immutableFeaturesOf(last.output()).find((one) => is(Metadata, one))
}

/** The owner as of the newest milestone, or as of the slot that destroyed the chain. An expired NFT belongs to its return address. */
export function ownerOfChain(
  { parameters }: Pick<Services, 'parameters'>,
  { last, slot, chainId }: ChainView,
): Hex {
  const { output, spentSlot } = present(last, `a state of ${chainId}`)
  const ownedIn = Math.min(slot, spentSlot ?? slot)
  return addressKey(ownerAt(output(), ownedIn + parameters.minCommittableAge))
}

/** The features of an account; `undefined` for an implicit account, which is still a basic output. */
export function accountParts({ last }: ChainView) {
  const output = last?.output()
  if (output === undefined || !is(AccountOutput, output)) return undefined
  return {
    foundryCounter: output.foundryCounter,
    blockIssuer: featureOf(output, BlockIssuer),
    staking: featureOf(output, Staking),
  }
}

/** The state index, the controllers and the state metadata of an anchor. */
export function anchorParts(chain: ChainView) {
  const output = stateOf(chain, chainKinds.ANCHOR)
  const addressOf = (kind: typeof StateController | typeof Governor) =>
    addressKey(present(conditionOf(output, kind), 'a holder of an anchor').address)
  return {
    stateIndex: output.stateIndex,
    stateController: addressOf(StateController),
    governor: addressOf(Governor),
    stateMetadata: featureOf(output, StateMetadata),
  }
}

/** A native token as its foundry states it. The supply of a destroyed foundry is 0. */
export function tokenParts(chain: ChainView) {
  const output = stateOf(chain, chainKinds.FOUNDRY)
  const { mintedTokens, meltedTokens, maximumSupply } = output.tokenScheme
  const account = present(conditionOf(output, ImmutableAccount), 'the account of a foundry').address
  return {
    tokenId: chain.chainId as FoundryId,
    accountId: account.accountId,
    serialNumber: output.serialNumber,
    ...{ mintedTokens, meltedTokens, maximumSupply },
    // The transaction that destroys a foundry burns the remaining tokens.
    circulatingSupply: chain.current === undefined ? 0n : mintedTokens - meltedTokens,
  }
}

/** The validator, the amount and the epochs of a delegation. */
export function delegationParts(chain: ChainView) {
  const { validatorAddress, delegatedAmount, startEpoch, endEpoch } = stateOf(
    chain,
    chainKinds.DELEGATION,
  )
  return {
    validatorId: validatorAddress.accountId,
    delegatedAmount,
    startEpoch,
    endEpoch: endEpoch === 0 ? undefined : endEpoch,
  }
}
