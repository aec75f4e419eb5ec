import { FoundryOutput } from '../protocol/outputs.ts'
import { hasCapability } from './capabilities.ts'
import { chainKey } from './chains.ts'
import type { TransactionError } from './transaction-error.ts'
import type { WorkingSet } from './working-set.ts'

/** The rules for native tokens: only their foundry mints them, and burning them needs a capability (ledger reference 5.4). */

/**
 * The sums of native tokens of inputs and outputs must be equal, or smaller in the outputs if burning is allowed. The foundry rules
 * check tokens whose foundry is among the outputs.
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
