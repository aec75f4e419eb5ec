import { type ConnectionOptions, receive, stoppable } from './connections.ts'
import { documentText } from './documents.ts'
import type { Answer, DocumentOptions } from './query.ts'

/** Receives the events of any subscription. */

/** A subscription. Its variables may be a function, which is called for every connection and can return the position to resume at. */
export type SubscribeOptions<Data, Variables> = ConnectionOptions &
  DocumentOptions<Data, Variables, Variables | (() => Variables)>

/**
 * Yields the events of a subscription, and reconnects as often as needed. Ends when the signal aborts, on `return()`, when the
 * gateway completes the subscription, or after an answer that is not `ok`: reconnecting cannot help then.
 */
export function subscribe<Data = unknown, Variables = unknown>(
  options: SubscribeOptions<Data, Variables>,
): AsyncGenerator<Answer<Data>, void, undefined> {
  const { document, variables } = options
  const query = documentText(document)
  return stoppable<ConnectionOptions, Answer<Data>>(options, (own) =>
    receive<Data>(own, {
      body: () => ({ query, variables: isFunction(variables) ? variables() : variables }),
      refusalIn: (answer) => (answer.ok ? undefined : answer.failure),
      isProgress: (_answer, isFirst) => !isFirst,
      onComplete: 'end',
    }),
  )
}

function isFunction(variables: unknown): variables is () => unknown {
  return typeof variables === 'function'
}
