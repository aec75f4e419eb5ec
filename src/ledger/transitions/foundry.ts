import { present } from '../../lib/assert.ts'
import { foundryId } from '../../protocol/ids.ts'
import { is } from '../../protocol/is.ts'
import { AccountOutput, FoundryOutput } from '../../protocol/outputs.ts'
import type { AccountId, FoundryId } from '../../protocol/primitives.ts'
import { ImmutableAccount } from '../../protocol/unlock-conditions.ts'
import { hasCapability } from '../capabilities.ts'
import { chainKey } from '../chains.ts'
import { conditionOf } from '../output-parts.ts'
import type { TransactionError } from '../transaction-error.ts'
import type { WorkingSet } from '../working-set.ts'
import { immutableFeaturesKept } from './chain-rules.ts'
import type { Beginning, Change, End } from './chain-states.ts'

/** The transitions of a foundry, and the relation between its counters and its tokens (ledger reference 6.5). */

/** Checks a new foundry. The transaction must create all tokens that it counts as minted. */
export function foundryBegins(
  set: WorkingSet,
  { state, output }: Beginning<FoundryOutput>,
): TransactionError | undefined {
  const { tokensIn, tokensOut } = tokensOf(set, idOf(state))
  const { mintedTokens, meltedTokens } = state.tokenScheme
  if (meltedTokens !== 0n || tokensOut !== mintedTokens) {
    return { code: 'SIMPLE_TOKEN_SCHEME_GENESIS_INVALID', output, tokensIn, tokensOut }
  }
  const key = chainKey(AccountOutput.code, ownerOf(state))
  const before = set.chains.inputByKey.get(key)?.state
  const after = set.chains.outputByKey.get(key)?.state
  if (!is(AccountOutput, before) || !is(AccountOutput, after)) {
    return { code: 'FOUNDRY_TRANSITION_WITHOUT_ACCOUNT', output }
  }
  const { serialNumber } = state
  const isCounted = before.foundryCounter < serialNumber && serialNumber <= after.foundryCounter
  if (isCounted && serialNumber > lastSerialBefore(set, state, output)) return undefined
  return { code: 'FOUNDRY_SERIAL_INVALID', output, serialNumber }
}

/** Checks a changed foundry. It mints tokens, melts tokens, or does neither. */
export function foundryChanges(
  set: WorkingSet,
  change: Change<FoundryOutput>,
): TransactionError | undefined {
  const { before, after, output } = change
  const broken = immutableFeaturesKept(change)
  if (broken !== undefined) return broken
  if (before.tokenScheme.maximumSupply !== after.tokenScheme.maximumSupply) {
    return { code: 'SIMPLE_TOKEN_SCHEME_MAXIMUM_SUPPLY_CHANGED', output }
  }
  const minted = after.tokenScheme.mintedTokens - before.tokenScheme.mintedTokens
  const melted = after.tokenScheme.meltedTokens - before.tokenScheme.meltedTokens
  if (minted < 0n || melted < 0n) {
    return { code: 'SIMPLE_TOKEN_SCHEME_MINTED_MELTED_TOKEN_DECREASE', output }
  }
  const sums = tokensOf(set, idOf(after))
  const more = sums.tokensOut - sums.tokensIn
  if (minted === (more > 0n ? more : 0n) && melted === (more < 0n ? -more : 0n)) return undefined
  if (more > 0n) return { code: 'SIMPLE_TOKEN_SCHEME_MINTING_INVALID', output, ...sums }
  if (more < 0n) return { code: 'SIMPLE_TOKEN_SCHEME_MELTING_INVALID', output, ...sums }
  return { code: 'SEMANTIC_VALIDATION_FAILED', output, ...sums }
}

/** Checks the end of a foundry. None of its tokens may remain. */
export function foundryEnds(
  set: WorkingSet,
  { state, input }: End<FoundryOutput>,
): TransactionError | undefined {
  if (!hasCapability(set.transaction, 'destroyFoundries')) {
    return { code: 'CAPABILITIES_FOUNDRY_DESTRUCTION_NOT_ALLOWED', input }
  }
  const tokenId = idOf(state)
  const { tokensIn: inputs, tokensOut: outputs } = tokensOf(set, tokenId)
  const { mintedTokens, meltedTokens } = state.tokenScheme
  if (mintedTokens + outputs - inputs === meltedTokens) return undefined
  return { code: 'NATIVE_TOKEN_SUM_UNBALANCED', tokenId, inputs, outputs }
}

/** Number of new foundries of an account in the transaction. */
export function newFoundries(set: WorkingSet, account: AccountId): number {
  return set.chains.outputs.filter(
    ({ state, key }) =>
      is(FoundryOutput, state) &&
      ownerOf(state) === account &&
      key !== undefined &&
      !set.chains.inputByKey.has(key),
  ).length
}

/** The highest serial number of the account's new foundries among the earlier outputs; 0 without any. */
function lastSerialBefore(set: WorkingSet, foundry: FoundryOutput, output: number): number {
  const account = ownerOf(foundry)
  return set.chains.outputs.reduce((last, { state, key, output: index }) => {
    if (index >= output || !is(FoundryOutput, state) || ownerOf(state) !== account) return last
    if (key === undefined || set.chains.inputByKey.has(key)) return last
    return Math.max(last, state.serialNumber)
  }, 0)
}

function tokensOf({ tokens }: WorkingSet, id: FoundryId) {
  return { tokensIn: tokens.inputs.get(id) ?? 0n, tokensOut: tokens.outputs.get(id) ?? 0n }
}

function ownerOf(foundry: FoundryOutput): AccountId {
  return present(conditionOf(foundry, ImmutableAccount), 'the account of a foundry').address
    .accountId
}

function idOf(foundry: FoundryOutput): FoundryId {
  return present(foundryId(foundry), 'the id of a foundry')
}
