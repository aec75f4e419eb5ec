import type { Network } from './network.ts'
import type { Refusal, RefusalCode } from './schema/refusal.ts'

/** How rules of form report what they find. */

/** A broken rule. Those of `node` are the node's alone: the official SDK takes the value. */
export interface Problem extends Refusal {
  readonly of: 'form' | 'node'
}

/** Where the rules report to; the path is that of the block. */
export interface Report {
  /** A rule that the official SDK and the node share, or the SDK alone where the codec follows it. */
  form(code: RefusalCode, ...path: readonly (string | number)[]): void
  /** A rule of the node alone. */
  node(code: RefusalCode, ...path: readonly (string | number)[]): void
}

/** What is known beside the block. */
export interface BlockFacts {
  readonly network: Network
  /** The block as it came, or as its JSON serializes. */
  readonly bytes: Uint8Array
  /** JSON is held to one rule more than bytes: a foundry's serial number. */
  readonly from: 'json' | 'bytes'
}

/** The same report, for a part of the value. */
export function below(report: Report, ...place: readonly (string | number)[]): Report {
  return {
    form: (code, ...path) => report.form(code, ...place, ...path),
    node: (code, ...path) => report.node(code, ...place, ...path),
  }
}
