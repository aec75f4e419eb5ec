import type { LimitError } from '../../errors/api-errors.ts'

/** The running operations of this process, and the memory that their responses occupy until they are sent. */

/** Counters of the running operations. The budgets of the operations update them (`budget.ts`). */
export interface RunningOperations {
  readonly limits: RunningOperationLimits
  operations: number
  /** Bytes of their responses so far. */
  bytes: number
}

export interface RunningOperationLimits {
  /** Maximum number of queries and mutations. */
  readonly operations: number
  /** Maximum bytes of responses that are computed but not sent. */
  readonly heldBytes: number
}

export function createRunningOperations(limits: RunningOperationLimits): RunningOperations {
  return { limits, operations: 0, bytes: 0 }
}

/** Returns the error for another operation; `undefined` when it may start. */
export function operationRefusal({
  limits,
  operations,
  bytes,
}: RunningOperations): LimitError | undefined {
  if (operations >= limits.operations) {
    return { code: 'OPERATION_LIMIT', unit: 'operations', limit: limits.operations }
  }
  if (bytes < limits.heldBytes) return undefined
  return { code: 'OPERATION_LIMIT', unit: 'bytes', limit: limits.heldBytes }
}
