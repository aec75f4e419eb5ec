import type { Network } from './network.ts'
import type { Refusal, RefusalCode } from './schema/refusal.ts'

/** Reports of broken rules of form. */

/**
 * A broken rule. Only nodes have the rules of `node`: the official SDK accepts the value. Only the SDK has the rules of `sdk`:
 * every node accepts the value (codec reference 19), and so does all code that accepts, books, stores or follows a ledger.
 */
export interface Problem extends Refusal {
  readonly of: 'form' | 'node' | 'sdk'
}

/** Whether a node refuses a value with this problem. */
export function isOfNode({ of }: Problem): boolean {
  return of !== 'sdk'
}

/** Receives the broken rules; paths begin at the block. */
export interface Report {
  /** A rule that the official SDK and the node share. */
  form(code: RefusalCode, ...path: readonly (string | number)[]): void
  /** A rule of the node alone. */
  node(code: RefusalCode, ...path: readonly (string | number)[]): void
  /** A rule of the SDK alone. */
  sdk(code: RefusalCode, ...path: readonly (string | number)[]): void
}

export interface BlockFacts {
  readonly network: Network
  /** The bytes of the block as received, or the serialization of its JSON. */
  readonly bytes: Uint8Array
  /** The form of the block. For JSON, the official SDK has one additional rule, about the serial numbers of foundries. */
  readonly from: 'json' | 'bytes'
}

/** A report for a part of the value, whose paths begin at this part. */
export function below(report: Report, ...place: readonly (string | number)[]): Report {
  return {
    form: (code, ...path) => report.form(code, ...place, ...path),
    node: (code, ...path) => report.node(code, ...place, ...path),
    sdk: (code, ...path) => report.sdk(code, ...place, ...path),
  }
}
