import type { IncomingMessage } from 'node:http'
import { err, ok, type Result } from '../../lib/result.ts'
import { messageIn } from '../../lib/thrown.ts'
import { turnOf } from '../../lib/turns.ts'
import type { BodyError } from '../errors/api-errors.ts'
import { withRoom } from '../http/large-bodies.ts'
import type { RestRequest } from './request.ts'

/** Maximum size of a request body in bytes, on every transport: 1 MiB. */
export const maxBodyBytes = 1_048_576

/**
 * Maximum number of chunks in which a body may arrive: more than a body has whose client does not send single bytes. Parsing a chunk
 * takes about a microsecond, whatever its length.
 */
export const maxBodyChunks = 32_768

/**
 * Reads a complete body in the turn of its client. A body that is too long is refused as soon as its length is known, and the
 * rest of it is not stored.
 */
export async function readBody(
  message: IncomingMessage,
  client: string,
): Promise<Result<Buffer, BodyError>> {
  const isHere = message.complete
  const body = await withRoom(client, message, () => collect(message))
  // If the body was incomplete, its last bytes were read outside of the client's turn.
  if (!isHere) await turnOf(client)
  return body
}

async function collect(message: IncomingMessage): Promise<Result<Buffer, BodyError>> {
  const limit = maxBodyBytes
  const tooLarge = err({ code: 'BODY_TOO_LARGE', limit } as const)
  if (Number(message.headers['content-length'] ?? 0) > limit) return tooLarge
  // An iterator over the message would take about ten microseconds longer for each small body.
  return new Promise((resolve, reject) => {
    let body = Buffer.alloc(0)
    let length = 0
    let chunks = 0
    const take = (chunk: Uint8Array) => {
      const end = length + chunk.length
      if (end > limit) {
        // The rest stays unread and the connection stays open, so that the error can be sent.
        message.off('data', take).pause()
        resolve(tooLarge)
        return
      }
      if (++chunks > maxBodyChunks) return void message.socket.destroy()
      // Copied at once: a chunk is a slice of a larger read buffer, and a client may send a megabyte in chunks of one byte.
      if (end > body.length) body = Buffer.concat([body], length === 0 ? end : 2 * end)
      body.set(chunk, length)
      length = end
    }
    message.on('data', take)
    message.once('end', () => resolve(ok(body.subarray(0, length))))
    message.once('error', reject)
    const lost = () => {
      if (!message.complete)
        reject(message.errored ?? new Error('the client disconnected within the body'))
    }
    message.once('close', lost)
    if (message.destroyed) lost()
  })
}

/**
 * Maximum number of values in JSON: more than the largest block has in any form (20,600 as GraphQL input). Parsing an object takes up to a
 * microsecond for each member that has a new name.
 */
export const maxJsonValues = 24_576

/** The error for JSON with more than `maxJsonValues` values. */
export const tooManyValues = err({ code: 'TOO_MANY_VALUES', limit: maxJsonValues } as const)

/** Whether JSON has more than `maxJsonValues` values, counted without parsing: each begins an array or object, or follows a comma. */
export function hasTooManyValues(bytes: Uint8Array): boolean {
  // A value takes at least two bytes.
  if (bytes.length <= 2 * maxJsonValues) return false
  let values = 1
  let isInString = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) isInString = !isInString
    else if (isInString) at += byte === backslash ? 1 : 0
    else if (byte === comma || byte === bracket || byte === brace) {
      if (++values > maxJsonValues) return true
    }
  }
  return false
}

const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{')

/** Parses JSON from bytes, which must be UTF-8. */
export function parseJson(bytes: Uint8Array): Result<unknown, BodyError> {
  if (hasTooManyValues(bytes)) return tooManyValues
  try {
    return ok(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (thrown) {
    // Both decoders report invalid input only by throwing.
    return err({ code: 'BODY_NOT_JSON', reason: messageIn(thrown) })
  }
}

export async function readJson(request: RestRequest): Promise<Result<unknown, BodyError>> {
  const type = checkContentType(request.headers['content-type'], 'application/json')
  if (!type.ok) return type
  const body = await request.body()
  return body.ok ? parseJson(body.value) : body
}

/** Checks a content type without its parameters against the expected types. The error names the first expected type. */
export function checkContentType(
  given: string | undefined,
  ...expected: readonly [string, ...string[]]
): Result<void, BodyError> {
  const essence = (given ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (expected.includes(essence)) return ok(undefined)
  return err({ code: 'CONTENT_TYPE_REFUSED', given: given ?? 'none', expected: expected[0] })
}
