import type { ErrorCode } from './errors/error-row.ts'

export type LimitUnit = 'BYTES' | 'CHARACTERS' | 'COUNT' | 'COST' | 'MILLISECONDS'

export interface Limit {
  readonly name: string
  readonly value: number
  readonly unit: LimitUnit
  /** Description of the limit in one or two sentences. */
  readonly meaning: string
  /** The error code of a refusal; absent if nothing is refused, or if GraphQL itself refuses. */
  readonly error?: ErrorCode
  /** The name of the setting that changes the limit. */
  readonly setting?: string
}
