import type { RewardOverflow } from '../ledger/reward-claims.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { SignatureCheckBusy, SignatureChecker } from '../node/signatures.ts'
import { type Network, networkOf, parseParameters } from '../protocol/network.ts'
import type { Refusal } from '../protocol/schema/refusal.ts'
import { type Json, parse, type Schema } from '../protocol/schema/schema.ts'
import { below } from './input-members.ts'
import type { KindUnknown, LineNotJson } from './read-line.ts'

/** The input and the output of verifications. */

export interface VerifyDeps {
  readonly checker: Pick<SignatureChecker, 'check'>
}

/** An input as an object, with the members of the test vectors of its kind. */
export type VerifyInput = Readonly<Record<string, unknown>>

export type Verdict = Result<Json, VerifyError>

/** Why an input has no verdict: the input or the value in it is malformed. */
export type VerifyError =
  | Refusal
  | SignatureCheckBusy
  | LineNotJson
  | KindUnknown
  /** A slot consumes an output that was never created. */
  | { readonly code: 'OUTPUT_UNKNOWN'; readonly path: string }
  /** A slot is not later than the preceding slot. */
  | { readonly code: 'SLOTS_NOT_ASCENDING'; readonly path: string }
  | (RewardOverflow & { readonly path: string })

/** Parses the protocol parameters of an input. */
export function readNetwork({ parameters: json }: VerifyInput): Result<Network, Refusal> {
  if (json === undefined) return err({ code: 'JSON_MISSING', path: 'parameters' })
  const parameters = parseParameters(json)
  return parameters.ok
    ? ok(networkOf(parameters.value))
    : err(below(parameters.error, 'parameters'))
}

/** Parses the network of an input and the members that a schema declares. */
export function readInNetwork<T>(
  schema: Schema<T>,
  input: VerifyInput,
): Result<{ readonly network: Network; readonly given: T }, Refusal> {
  const network = readNetwork(input)
  if (!network.ok) return network
  const given = parse(schema, input)
  return given.ok ? ok({ network: network.value, given: given.value }) : given
}
