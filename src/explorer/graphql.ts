import { type Answer, query } from '../client/query.ts'
import { root } from './base.ts'

/** Sends one GraphQL document to the gateway in one request. */

export { type Answer, type Failure, failed } from '../client/query.ts'

/** A generated document with typed data and variables. */
export interface TypedDocument<Data, Variables> {
  readonly text: string
  readonly types?: (variables: Variables) => Data
}

/** URL of the GraphQL endpoint. */
export const endpoint = new URL('graphql', root)

/** Sends a document. Rejects only when the signal aborts. */
export async function sendDocument<Data, Variables>(
  { text: document }: TypedDocument<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Answer<Data>> {
  return await query<Data>({ url: root.href, document, variables, signal })
}
