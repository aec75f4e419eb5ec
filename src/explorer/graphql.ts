import { type Answer, query } from '../client/query.ts'
import { root } from './base.ts'

/** Asks the gateway: one request for one document. */

export { type Answer, type Failure, failed } from '../client/query.ts'

/** A generated document, which knows the type of its answer. */
export interface TypedDocument<Data, Variables> {
  readonly text: string
  readonly types?: (variables: Variables) => Data
}

/** The address that documents are sent to. */
export const endpoint = new URL('graphql', root)

/** Sends a document. Throws only what the signal throws. */
export async function ask<Data, Variables>(
  { text: document }: TypedDocument<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Answer<Data>> {
  return await query<Data>({ url: root.href, document, variables, signal })
}
