import type { RewardOverflow } from '../ledger/reward-claims.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { SignatureCheckBusy, SignatureChecker } from '../node/signatures.ts'
import { type Network, networkOf } from '../protocol/network.ts'
import { ProtocolParameters } from '../protocol/parameters.ts'
import type { Refusal } from '../protocol/schema/refusal.ts'
import { type Json, parse, type Schema } from '../protocol/schema/schema.ts'
import type { KindUnknown, LineNotJson } from './read-line.ts'

/** What a verification is given, and what it answers. */

/** What verifying needs. */
export interface VerifyDeps {
  readonly checker: Pick<SignatureChecker, 'check'>
}

/** An input as an object: its members are those of the test vectors of its kind. */
export type Question = Readonly<Record<string, unknown>>

/** The result, or why there is none. */
export type Verdict = Result<Json, VerifyError>

/** Why an input has no verdict: it cannot be read, or the value in it is malformed. */
export type VerifyError =
  | Refusal
  | SignatureCheckBusy
  | LineNotJson
  | KindUnknown
  /** Something is consumed that was never created. */
  | { readonly code: 'OUTPUT_UNKNOWN'; readonly path: string }
  /** Slots or epochs must follow one another. */
  | { readonly code: 'SLOTS_NOT_ASCENDING'; readonly path: string }
  | (RewardOverflow & { readonly path: string })

/** Reads the members of an input that a schema names. */
export function readQuestion<T>(schema: Schema<T>, question: Question): Result<T, Refusal> {
  return parse(schema, question)
}

/** Reads the protocol parameters of an input: the set itself. */
export function readNetwork({ parameters: json }: Question): Result<Network, Refusal> {
  if (json === undefined) return err({ code: 'JSON_MISSING', path: 'parameters' })
  const parameters = parse(ProtocolParameters, json)
  return parameters.ok
    ? ok(networkOf(parameters.value))
    : err(below(parameters.error, 'parameters'))
}

/** Reads the network of an input and the members that a schema names. */
export function readInNetwork<T>(
  schema: Schema<T>,
  question: Question,
): Result<{ readonly network: Network; readonly given: T }, Refusal> {
  const network = readNetwork(question)
  if (!network.ok) return network
  const given = readQuestion(schema, question)
  return given.ok ? ok({ network: network.value, given: given.value }) : given
}

/** The refusal of a value, with the path of the member that holds it. */
export function below(refusal: Refusal, member: string): Refusal {
  return { ...refusal, path: refusal.path === '' ? member : `${member}.${refusal.path}` }
}
