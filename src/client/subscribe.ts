import { type ConnectionOptions, receive } from './connections.ts'
import { documentText } from './documents.ts'
import type { Answer, DocumentOptions } from './query.ts'

/** Follows a subscription of the caller. */

/** A subscription; its variables may be a function, which is called for every connection and can say where to resume. */
export type SubscribeOptions<Data, Variables> = ConnectionOptions &
  DocumentOptions<Data, Variables, Variables | (() => Variables)>

/**
 * The events of a subscription, over as many connections as it takes. Ends with the signal, with `return()`, when the gateway
 * completes it, or after an answer that is not `ok`: then another connection would not help.
 */
export async function* subscribe<Data = unknown, Variables = unknown>(
  options: SubscribeOptions<Data, Variables>,
): AsyncGenerator<Answer<Data>, void, undefined> {
  const { document, variables } = options
  const query = documentText(document)
  yield* receive<Data>(options, {
    body: () => ({ query, variables: isFunction(variables) ? variables() : variables }),
    refusalIn: (answer) => (answer.ok ? undefined : answer.failure),
    onComplete: 'end',
  })
}

function isFunction(variables: unknown): variables is () => unknown {
  return typeof variables === 'function'
}
