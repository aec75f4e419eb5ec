import type { ErrorCode } from './error-row.ts'

/** What a limit counts. */
export type LimitUnit = 'BYTES' | 'CHARACTERS' | 'COUNT' | 'COST' | 'MILLISECONDS'

/** A limit of the server. */
export interface Limit {
  readonly name: string
  readonly value: number
  readonly unit: LimitUnit
  /** One sentence. */
  readonly meaning: string
  /** The code of the refusal; absent where nothing is refused, or GraphQL itself refuses. */
  readonly error?: ErrorCode
  /** What the operator sets. */
  readonly setting?: string
}
