import { binaryType } from '../../protocol/node-responses.ts'
import { encode, print, type Schema } from '../../protocol/schema/schema.ts'
import type { Form, Shape } from './form.ts'
import { wantsBytes } from './negotiation.ts'
import { shapeOf } from './openapi/from-schema.ts'
import type { RestRequest } from './request.ts'
import { json, type RestResponse } from './response.ts'

/** Successful responses: one declaration describes and prints each response. */

/** A response as the OpenAPI document describes it. */
export interface ResponseDescription {
  readonly about: string
  /** The schema of the JSON body; absent if there is no JSON body. */
  readonly json?: Shape
  /** Description of the body for clients that prefer bytes; absent if bytes are not available. */
  readonly bytes?: string
  /** Descriptions of text bodies by content type. */
  readonly texts?: Readonly<Record<string, string>>
  /** Descriptions of additional headers by name. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Options of a response: status 200 and no additional headers by default. */
export interface ReplyOptions {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

type Accepting = Pick<RestRequest, 'headers'>

export interface Reply<T> extends ResponseDescription {
  respond(request: Accepting, value: T, options?: ReplyOptions): RestResponse
}

/** A response with a protocol value, as JSON or bytes. */
export interface SerializedReply<T> extends Reply<T> {
  readonly schema: Schema<T>
}

/** Describes a response of the core API: a protocol value as JSON or bytes, as the client prefers. */
export function serialized<T>(about: string, schema: Schema<T>): SerializedReply<T> {
  return {
    ...serializedResponse(about, schema),
    schema,
    respond: (request, value, { status = 200, headers = {} } = {}) =>
      wantsBytes(request)
        ? bytesAnswer(encode(schema, value), status, headers)
        : json(status, print(schema, value), headers),
  }
}

/** A value that is stored as bytes, and decoded only for JSON. */
export interface Stored<T> {
  readonly bytes: Uint8Array
  readonly value: () => T
}

/** Describes a response with a protocol value that is stored as bytes. */
export function serializedBytes<T>(about: string, schema: Schema<T>): Reply<Stored<T>> {
  return {
    ...serializedResponse(about, schema),
    respond: (request, { bytes, value }, { status = 200, headers = {} } = {}) =>
      wantsBytes(request)
        ? bytesAnswer(bytes, status, headers)
        : json(status, print(schema, value()), headers),
  }
}

/** Makes a response cacheable forever, because the id in the path determines its content. */
export function immutable<T>(reply: Reply<T>): Reply<T> {
  return {
    ...reply,
    headers: {
      ...reply.headers,
      'cache-control': 'Cacheable forever, because the id determines the content.',
    },
    respond: (request, value, { status = 200, headers = {} } = {}) =>
      reply.respond(request, value, {
        status,
        headers: { 'cache-control': 'public, max-age=31536000, immutable', ...headers },
      }),
  }
}

/** Describes a response that is available only as JSON. */
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

/** Describes a protocol value as JSON or bytes. */
export function serializedResponse(about: string, schema: Schema<unknown>): ResponseDescription {
  return { about, json: shapeOf(schema), bytes: 'The serialized object.' }
}

function bytesAnswer(
  body: Uint8Array,
  status: number,
  headers: Readonly<Record<string, string>>,
): RestResponse {
  return { status, headers: { 'content-type': binaryType, ...headers }, body }
}
