import type { LimitError } from '../../errors/api-errors.ts'

/**
 * The running operations of this process, and the memory that their responses occupy until they are sent. No client has more of either
 * than is free, so that clients that do not read their responses leave room for others.
 */

/** Counters of the running operations. The budgets of the operations update them (`budget.ts`). */
export interface RunningOperations extends Held {
  readonly limits: RunningOperationLimits
  /** The operations of each client that has any, by its name. */
  readonly byClient: Map<string, Held>
}

/** The number of some running operations, and the bytes of their responses so far. */
export interface Held {
  operations: number
  bytes: number
}

export interface RunningOperationLimits {
  /** Maximum number of queries and mutations. */
  readonly operations: number
  /** Maximum bytes of responses that are computed but not sent. */
  readonly heldBytes: number
}

export function createRunningOperations(limits: RunningOperationLimits): RunningOperations {
  return { limits, operations: 0, bytes: 0, byClient: new Map() }
}

/** Returns the error for another operation of a client; `undefined` when it may start. */
export function operationRefusal(
  { limits, operations, bytes, byClient }: RunningOperations,
  client: string,
): LimitError | undefined {
  const own = byClient.get(client) ?? { operations: 0, bytes: 0 }
  const [freeOperations, freeBytes] = [limits.operations - operations, limits.heldBytes - bytes]
  if (freeOperations <= 0 || own.operations > freeOperations) {
    return { code: 'OPERATION_LIMIT', unit: 'operations', limit: limits.operations }
  }
  if (freeBytes > 0 && own.bytes <= freeBytes) return undefined
  return { code: 'OPERATION_LIMIT', unit: 'bytes', limit: limits.heldBytes }
}
