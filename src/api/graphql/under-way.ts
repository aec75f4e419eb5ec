import type { LimitError } from '../api-errors.ts'

/** The operations that are under way in this process, and what their answers hold of its memory until they are sent. */

/** Counted by the budgets of the operations (`budget.ts`). */
export interface UnderWay {
  readonly limits: UnderWayLimits
  operations: number
  /** Of all their answers, as far as they are made. */
  bytes: number
}

/** How much may be under way at once. */
export interface UnderWayLimits {
  /** Queries and mutations. */
  readonly operations: number
  /** Bytes of answers that are made and not sent. */
  readonly heldBytes: number
}

/** Nothing is under way. */
export function createUnderWay(limits: UnderWayLimits): UnderWay {
  return { limits, operations: 0, bytes: 0 }
}

/** Why another operation is refused; `undefined` where it is not. */
export function operationRefusal({ limits, operations, bytes }: UnderWay): LimitError | undefined {
  if (operations >= limits.operations) {
    return { code: 'OPERATION_LIMIT', unit: 'operations', limit: limits.operations }
  }
  if (bytes < limits.heldBytes) return undefined
  return { code: 'OPERATION_LIMIT', unit: 'bytes', limit: limits.heldBytes }
}
