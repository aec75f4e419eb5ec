import { encode, print, type Schema } from '../../protocol/schema/schema.ts'
import type { Form, Shape } from './form.ts'
import { binaryType, wantsBytes } from './negotiation.ts'
import { shapeOf } from './openapi/from-schema.ts'
import type { RestRequest } from './request.ts'
import { json, type RestResponse } from './response.ts'

/** Answers of success: each is described and printed by one declaration. */

/** An answer as the OpenAPI document describes it. */
export interface Answer {
  readonly about: string
  /** The form of the JSON; absent where there is no body. */
  readonly json?: Shape
  /** What a client that asks for bytes gets in its place; absent where there are none. */
  readonly bytes?: string
  /** Texts of other types, each with a sentence on it. */
  readonly texts?: Readonly<Record<string, string>>
  /** Headers besides those of every answer, with a sentence on each. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Status 200 and no headers, unless an answer says otherwise. */
export interface ReplyOptions {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

type Accepting = Pick<RestRequest, 'headers'>

/** An answer with a value. */
export interface Reply<T> extends Answer {
  respond(request: Accepting, value: T, options?: ReplyOptions): RestResponse
}

/** The answer with a value of the protocol, as JSON or as bytes. */
export interface SerializedReply<T> extends Reply<T> {
  readonly schema: Schema<T>
}

/** Describes an answer of the core API: a value of the protocol, as JSON or as bytes, as the client asks. */
export function serialized<T>(about: string, schema: Schema<T>): SerializedReply<T> {
  return {
    ...serializedAnswer(about, schema),
    schema,
    respond: (request, value, { status = 200, headers = {} } = {}) =>
      wantsBytes(request)
        ? bytesAnswer(encode(schema, value), status, headers)
        : json(status, print(schema, value), headers),
  }
}

/** Something that is stored as bytes, decoded only where JSON is asked for. */
export interface Stored<T> {
  readonly bytes: Uint8Array
  readonly value: () => T
}

/** The same for a value that is stored as bytes. */
export function serializedBytes<T>(about: string, schema: Schema<T>): Reply<Stored<T>> {
  return {
    ...serializedAnswer(about, schema),
    respond: (request, { bytes, value }, { status = 200, headers = {} } = {}) =>
      wantsBytes(request)
        ? bytesAnswer(bytes, status, headers)
        : json(status, print(schema, value()), headers),
  }
}

/** The same where the id in the path is that of the content, whatever becomes of the ledger: a client need not ask again. */
export function immutable<T>(reply: Reply<T>): Reply<T> {
  return {
    ...reply,
    headers: {
      ...reply.headers,
      'cache-control': 'The id is that of the content, which never changes.',
    },
    respond: (request, value, { status = 200, headers = {} } = {}) =>
      reply.respond(request, value, {
        status,
        headers: { 'cache-control': 'public, max-age=31536000, immutable', ...headers },
      }),
  }
}

/** Describes an answer that is JSON alone. */
export function jsonReply<T>(
  about: string,
  form: Form<T>,
  described: Readonly<Record<string, string>> = {},
): Reply<T> {
  return {
    about,
    json: form.shape,
    headers: described,
    respond: (_request, value, { status = 200, headers = {} } = {}) =>
      json(status, form.print(value), headers),
  }
}

/** Describes a value of the protocol as JSON or as bytes. */
export function serializedAnswer(about: string, schema: Schema<unknown>): Answer {
  return { about, json: shapeOf(schema), bytes: 'The same, serialized.' }
}

function bytesAnswer(
  body: Uint8Array,
  status: number,
  headers: Readonly<Record<string, string>>,
): RestResponse {
  return { status, headers: { 'content-type': binaryType, ...headers }, body }
}
