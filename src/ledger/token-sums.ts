import { NativeToken } from '../protocol/features.ts'
import type { Output } from '../protocol/outputs.ts'
import type { FoundryId } from '../protocol/primitives.ts'
import { featureOf } from './output-parts.ts'

/** The native tokens on both sides of a transaction, including foundry outputs. */
export interface TokenSums {
  readonly inputs: ReadonlyMap<FoundryId, bigint>
  readonly outputs: ReadonlyMap<FoundryId, bigint>
}

/** Sums the native tokens of the spent and the created outputs. */
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
