import type { IncomingHttpHeaders } from 'node:http'

/** Content negotiation. */

/** The content type of serialized objects. */
export const binaryType = 'application/vnd.iota.serializer-v2'

/** Whether a content type, or the first one of `Accept`, is that of serialized objects, of whatever network. */
export const binaryTypes = /^application\/vnd\.[^/;,]+\.serializer-v2/i

/** Whether a client asks for bytes; like the node, it reads only the beginning of the header. */
export function wantsBytes({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  return binaryTypes.test(headers.accept ?? '')
}
