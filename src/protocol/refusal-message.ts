import { Address } from './addresses.ts'
import { BlockBody } from './block.ts'
import { OutputIdProof } from './commitment.ts'
import { allFeatures, BlockIssuerKey } from './features.ts'
import { Input } from './inputs.ts'
import { Output, SimpleTokenScheme } from './outputs.ts'
import type { AnyVariant } from './schema/composites.ts'
import { type Refusal, type RefusalCode, sentences } from './schema/refusal.ts'
import { Payload } from './transaction.ts'
import { allUnlockConditions } from './unlock-conditions.ts'
import { Signature, Unlock } from './unlocks.ts'

/** The message of a refusal, one sentence; `subject` is the name of the outermost value. */
export function refusalMessage({ code, path, offset }: Refusal, subject: string): string {
  const place = path === '' ? subject : path
  const family = families[code]
  const kinds = family === undefined ? '' : ` (${kindsOf(family)})`
  const at = offset === undefined ? '' : ` (byte ${offset})`
  return `${place} ${sentences[code]}${kinds}${at}`
}

/**
 * The kinds that are valid for a value of unknown type. The kinds of context inputs are left out, because their codes depend
 * on the numbering.
 */
const families: { readonly [C in RefusalCode]?: readonly AnyVariant[] } = {
  TYPE_ADDRESS: Address.variants,
  TYPE_BLOCK_BODY: BlockBody.variants,
  TYPE_BLOCK_ISSUER_KEY: [BlockIssuerKey],
  TYPE_FEATURE: allFeatures,
  TYPE_INPUT: Input.variants,
  TYPE_OUTPUT: Output.variants,
  TYPE_PAYLOAD: Payload.variants,
  TYPE_PROOF_NODE: OutputIdProof.fields.outputCommitmentProof.variants,
  TYPE_SIGNATURE: Signature.variants,
  TYPE_TOKEN_SCHEME: [SimpleTokenScheme],
  TYPE_UNLOCK: Unlock.variants,
  TYPE_UNLOCK_CONDITION: allUnlockConditions,
}

/** Lists up to three kinds with their names, more kinds by their codes alone. */
function kindsOf(family: readonly AnyVariant[]): string {
  const kinds = family.toSorted((a, b) => a.code - b.code)
  if (kinds.length <= 3) return kinds.map(({ name, code }) => `${code} ${name}`).join(', ')
  const isRange = kinds.every(({ code }, i) => code === i)
  return isRange ? `0 to ${kinds.length - 1}` : kinds.map(({ code }) => code).join(', ')
}
