import { encode, print, type Schema } from '../../../protocol/schema/schema.ts'
import { binaryType, wantsBytes } from '../negotiation.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { type Answer, json, type RestRequest, type RestResponse } from '../route.ts'

/** Answers of the core API: the same value as JSON or as bytes, as the client asks. */

/** Describes an answer with a value of a type. */
export function answered(about: string, schema: Schema<unknown>): Answer {
  return { about, json: shapeOf(schema), bytes: 'The same, serialized.' }
}

/** Answers with a value. */
export function answerWith<T>(
  request: RestRequest,
  schema: Schema<T>,
  value: T,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): RestResponse {
  return wantsBytes(request)
    ? bytesAnswer(encode(schema, value), status, headers)
    : json(status, print(schema, value), headers)
}

/** Answers with something that is kept as bytes; its meaning is looked at only where JSON is wanted. */
export function answerWithBytes<T>(
  request: RestRequest,
  schema: Schema<T>,
  { bytes, value }: { readonly bytes: Uint8Array; readonly value: () => T },
): RestResponse {
  return wantsBytes(request) ? bytesAnswer(bytes, 200, {}) : json(200, print(schema, value()))
}

function bytesAnswer(
  body: Uint8Array,
  status: number,
  headers: Readonly<Record<string, string>>,
): RestResponse {
  return { status, headers: { 'content-type': binaryType, ...headers }, body }
}
