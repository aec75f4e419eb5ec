import type { IncomingHttpHeaders } from 'node:http'

/** Content negotiation. */

/** Matches the content type of serialized objects of any network, at the start of `Content-Type` or `Accept`. */
export const binaryTypes = /^application\/vnd\.[^/;,]+\.serializer-v2/i

/** Whether a client prefers bytes. Like a node, it reads only the beginning of `Accept`. */
export function wantsBytes({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  return binaryTypes.test(headers.accept ?? '')
}
