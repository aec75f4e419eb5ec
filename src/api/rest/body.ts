import type { IncomingMessage } from 'node:http'
import { err, ok, type Result } from '../../lib/result.ts'
import { turnOf } from '../../lib/turns.ts'
import type { BodyError } from '../api-errors.ts'
import { withRoom } from '../large-bodies.ts'
import type { RestRequest } from './request.ts'

/** The longest request body, in bytes: 1 MiB, on every transport. */
export const maxBodyBytes = 1_048_576

/**
 * Reads a whole body in the turn of its client. One that is too long is refused as soon as that is known, and the rest of it is
 * not kept.
 */
export async function readBody(
  message: IncomingMessage,
  client: string,
): Promise<Result<Buffer, BodyError>> {
  const isHere = message.complete
  const body = await withRoom(client, message, () => collect(message))
  // The last bytes of one that was still on its way were taken off the socket in no turn.
  if (!isHere) await turnOf(client)
  return body
}

async function collect(message: IncomingMessage): Promise<Result<Buffer, BodyError>> {
  const limit = maxBodyBytes
  const tooLarge = err({ code: 'BODY_TOO_LARGE', limit } as const)
  if (Number(message.headers['content-length'] ?? 0) > limit) return tooLarge
  // An iterator over the message would take some ten microseconds more for each small body.
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    const take = (chunk: Uint8Array) => {
      length += chunk.length
      if (length <= limit) return void chunks.push(chunk)
      // The rest is left unread, and the connection open, so that the refusal can be sent.
      message.off('data', take).pause()
      resolve(tooLarge)
    }
    message.on('data', take)
    // Copied, also where it came in one piece: that is a part of what was read off the socket at once.
    message.once('end', () => resolve(ok(Buffer.concat(chunks))))
    message.once('error', reject)
    const lost = () => {
      if (!message.complete) reject(message.errored ?? new Error('the client left in its body'))
    }
    message.once('close', lost)
    if (message.destroyed) lost()
  })
}

/** The value that some bytes spell in JSON, which must be UTF-8. */
export function parseJson(bytes: Uint8Array): Result<unknown, BodyError> {
  try {
    return ok(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (thrown) {
    // Neither decoder has another way to say that the bytes are wrong.
    const reason = thrown instanceof Error ? thrown.message : 'unreadable'
    return err({ code: 'BODY_NOT_JSON', reason })
  }
}

/** Reads the body of a request as JSON. */
export async function readJson(request: RestRequest): Promise<Result<unknown, BodyError>> {
  const type = checkContentType(request.headers['content-type'], 'application/json')
  if (!type.ok) return type
  const body = await request.body()
  return body.ok ? parseJson(body.value) : body
}

/** Whether a content type is one of those expected, parameters aside. The first of them is named to the caller. */
export function checkContentType(
  given: string | undefined,
  ...expected: readonly [string, ...string[]]
): Result<void, BodyError> {
  const essence = (given ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (expected.includes(essence)) return ok(undefined)
  return err({ code: 'CONTENT_TYPE_REFUSED', given: given ?? 'none', expected: expected[0] })
}
