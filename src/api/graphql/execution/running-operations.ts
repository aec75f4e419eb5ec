import type { ServerResponse } from 'node:http'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import type { LimitError } from '../../errors/api-errors.ts'

/**
 * The running operations of this process, and the memory that their responses occupy until they are sent. No client has more of either
 * than is free, so that clients that do not read their responses leave room for others.
 */

/** Counters of the running operations. The budgets of the operations update them (`budget.ts`). */
export interface RunningOperations extends Held {
  readonly limits: RunningOperationLimits
  /** The operations and the unsent bytes of each client that has any, by its name. */
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

/** Returns the counts of a client, which are kept until `forgetIdle`. */
export function heldBy({ byClient }: RunningOperations, client: string): Held {
  return getOrInsert(byClient, client, () => ({ operations: 0, bytes: 0 }))
}

/** Forgets a client that has no operations and no unsent bytes. */
export function forgetIdle({ byClient }: RunningOperations, client: string): void {
  const own = byClient.get(client)
  if (own?.operations === 0 && own.bytes === 0) byClient.delete(client)
}

/** Size of a response in bytes up to which it is not counted, because its connection takes as much memory. */
const uncountedBytes = 16_384

/** Counts a response that is not computed by an operation until it is sent. Returns the error if its client has no room for it. */
export function holdUntilSent(
  running: RunningOperations,
  client: string,
  response: ServerResponse,
  bytes: number,
): LimitError | undefined {
  if (bytes <= uncountedBytes || response.destroyed) return undefined
  const own = heldBy(running, client)
  const hold = (more: number) => {
    running.bytes += more
    own.bytes += more
    forgetIdle(running, client)
  }
  hold(bytes)
  const limit = running.limits.heldBytes
  if (own.bytes > limit - running.bytes) {
    hold(-bytes)
    return { code: 'OPERATION_LIMIT', unit: 'bytes', limit }
  }
  response.once('close', () => hold(-bytes))
  return undefined
}
