import type { Network } from './network.ts'
import type { Refusal, RefusalCode } from './schema/refusal.ts'

/** How rules of form report what they find. */

/**
 * A broken rule. Those of `node` are the node's alone: the official SDK takes the value. Those of `sdk` are the SDK's
 * alone: every node takes it (codec reference 19), and so does whatever takes, books, stores or follows a ledger.
 */
export interface Problem extends Refusal {
  readonly of: 'form' | 'node' | 'sdk'
}

/** Whether a node refuses what has the problem. */
export function isOfNode({ of }: Problem): boolean {
  return of !== 'sdk'
}

/** Where the rules report to; the path is that of the block. */
export interface Report {
  /** A rule that the official SDK and the node share. */
  form(code: RefusalCode, ...path: readonly (string | number)[]): void
  /** A rule of the node alone. */
  node(code: RefusalCode, ...path: readonly (string | number)[]): void
  /** A rule of the SDK alone. */
  sdk(code: RefusalCode, ...path: readonly (string | number)[]): void
}

/** What is known beside the block. */
export interface BlockFacts {
  readonly network: Network
  /** The block as it came, or as its JSON serializes. */
  readonly bytes: Uint8Array
  /** The official SDK holds JSON to one rule more than bytes: a foundry's serial number. */
  readonly from: 'json' | 'bytes'
}

/** The same report, for a part of the value. */
export function below(report: Report, ...place: readonly (string | number)[]): Report {
  return {
    form: (code, ...path) => report.form(code, ...place, ...path),
    node: (code, ...path) => report.node(code, ...place, ...path),
    sdk: (code, ...path) => report.sdk(code, ...place, ...path),
  }
}
