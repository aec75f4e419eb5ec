import { NativeToken } from '../protocol/features.ts'
import { FoundryOutput, type Output } from '../protocol/outputs.ts'
import type { FoundryId } from '../protocol/primitives.ts'
import { hasCapability } from './capabilities.ts'
import { chainKey } from './chains.ts'
import { featureOf } from './output-parts.ts'
import type { TransactionError } from './transaction-error.ts'
import type { WorkingSet } from './working-set.ts'

/** Native tokens: only their foundry makes them, and they vanish only where that is allowed (ledger reference 5.4). */

/** The native tokens of both sides of a transaction, foundry outputs included. */
export interface TokenSums {
  readonly inputs: ReadonlyMap<FoundryId, bigint>
  readonly outputs: ReadonlyMap<FoundryId, bigint>
}

/** Sums up the tokens of what is spent and of what is created. */
export function tokenSums(
  spent: readonly { readonly output: Output }[],
  created: readonly Output[],
): TokenSums {
  const sums = { inputs: new Map<FoundryId, bigint>(), outputs: new Map<FoundryId, bigint>() }
  for (const { output } of spent) addTokens(sums.inputs, output)
  for (const output of created) addTokens(sums.outputs, output)
  return sums
}

function addTokens(sumByToken: Map<FoundryId, bigint>, output: Output): void {
  const token = featureOf(output, NativeToken)
  if (token === undefined) return
  sumByToken.set(token.id, (sumByToken.get(token.id) ?? 0n) + token.amount)
}

/**
 * As many native tokens come out as go in, or fewer where burning is allowed. Those whose foundry is among the
 * outputs are settled with the foundry.
 */
export function nativeTokensBalance(set: WorkingSet): TransactionError | undefined {
  const { tokens, chains } = set
  if (tokens.inputs.size === 0 && tokens.outputs.size === 0) return undefined
  const sums = [...tokens.inputs, ...tokens.outputs]
  const overflown = sums.find(([, sum]) => sum >> 256n !== 0n)
  if (overflown !== undefined) return { code: 'SEMANTIC_VALIDATION_FAILED', tokenId: overflown[0] }
  const mayBurn = hasCapability(set.transaction, 'burnNativeTokens')
  for (const [tokenId] of sums) {
    if (chains.outputByKey.has(chainKey(FoundryOutput.code, tokenId))) continue
    const inputs = tokens.inputs.get(tokenId) ?? 0n
    const outputs = tokens.outputs.get(tokenId) ?? 0n
    if (outputs > inputs || (outputs < inputs && !mayBurn)) {
      return { code: 'NATIVE_TOKEN_SUM_UNBALANCED', tokenId, inputs, outputs }
    }
  }
  return undefined
}
