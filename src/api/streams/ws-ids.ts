import { MessageType } from 'graphql-ws'
import { parseJson } from '../rest/body.ts'
import type { Connection } from './ws-connection.ts'

/**
 * Ids of operations that are used again. A client may use an id again as soon as it has completed the operation, but the protocol
 * library knows operations only by their ids: it would take the completed operation, which may still open its feed or run its query,
 * for the new one. Both would answer under one id, and the completed one would never end. So the new operation waits for that end.
 */

/**
 * Returns the end that a message has to wait for, because it uses the id of a completed operation again; `undefined` if the message
 * can be handled now. A message that completes a query also ends it, because the library would drop the response, but let it run.
 */
export function endBefore(connection: Connection, text: string): Promise<void> | undefined {
  const { ends, completedEnds, budgets } = connection
  if (ends.size === 0) return undefined
  const message = parseJson(Buffer.from(text))
  const { type, id }: Partial<Record<string, unknown>> = Object(message.ok ? message.value : null)
  if (typeof id !== 'string') return undefined
  if (type === MessageType.Subscribe) return completedEnds.get(id)
  const end = ends.get(id)
  if (type === MessageType.Complete && end !== undefined) {
    completedEnds.set(id, end)
    budgets.get(id)?.leave()
  }
  return undefined
}

/** Records the end of an operation if the library has begun one. Returns the given promise, which resolves when it has ended. */
export function noteBegun(connection: Connection, handled: Promise<void>): Promise<void> {
  const { begunId: id, ends, completedEnds } = connection
  if (id === undefined) return handled
  connection.begunId = undefined
  const forget = () => {
    ends.delete(id)
    completedEnds.delete(id)
  }
  ends.set(id, handled.then(forget, forget))
  return handled
}
