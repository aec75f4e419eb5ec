import type { JSONWebKeySet, JWK } from 'jose'
import * as errors from 'jose/errors'
import { createLocalJWKSet } from 'jose/jwks/local'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { keySetAlgorithms } from './signing-key.ts'
import { type TokenFileUnusable, watchFile } from './watched-file.ts'

/** The keys of an external token issuer: a JSON Web Key Set (RFC 7517) in a file or at a URL. */

export type KeySetSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'url'; readonly url: string }

export interface KeySet {
  /** Returns the key that the header of a token names. */
  find(header: KeyName): Promise<CryptoKey | undefined>
  close(): void
}

interface KeyName {
  readonly algorithm: string
  readonly kid: string
}

/** The intervals of a key set at a URL; tests use shorter ones. */
export interface KeySetTimes {
  /** Milliseconds between regular reads, which drop removed keys. */
  readonly refreshMs: number
  /** Milliseconds after a read in which an unknown key causes no further read, because any client can name an unknown key. */
  readonly cooldownMs: number
}

const defaultTimes: KeySetTimes = { refreshMs: 300_000, cooldownMs: 30_000 }

/** Timeout of a read from a URL, in milliseconds. */
const timeoutMs = 5_000

/** Maximum size of a key set, in bytes. */
const maxBytes = 1_048_576

type Keys = ReturnType<typeof createLocalJWKSet>

/**
 * Opens a key set. A file must exist, and changes of it are loaded. If a URL is unreachable, the failure is logged and the read is
 * retried: tokens are refused until the first successful read, and later the last keys stay valid.
 */
export async function openKeySet(
  source: KeySetSource,
  log: Log,
  times = defaultTimes,
): Promise<Result<KeySet, TokenFileUnusable>> {
  if (source.kind === 'url') return ok(await followUrl(source.url, log, times))
  const file = await watchFile({ path: source.path, log, parse: parseKeySet })
  if (!file.ok) return file
  const { current, close } = file.value
  return ok({ find: (header) => keyIn(current(), header), close })
}

async function followUrl(url: string, log: Log, times: KeySetTimes): Promise<KeySet> {
  let keys: Keys | undefined
  let isAway = false
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  const closed = new AbortController()

  async function read(): Promise<void> {
    readAt = performance.now()
    const found = await fetchKeySet(url, closed.signal)
    if (closed.signal.aborted) return
    if (found.ok) {
      keys = found.value
      if (isAway) log.info('key-set-back')
    } else if (!isAway) {
      log.error('key-set-away', { reason: found.error })
    }
    isAway = !found.ok
  }

  function readOnce(): Promise<void> {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }

  const timer = setInterval(() => void readOnce(), times.refreshMs)
  timer.unref()
  await readOnce()
  return {
    find: async (header) => {
      const tried = keys
      const found = await keyIn(tried, header)
      if (found !== undefined) return found
      const isDue = performance.now() - readAt >= times.cooldownMs
      // A read that is running may bring the key.
      if (isDue || reading !== undefined) await readOnce()
      return keys === tried ? undefined : await keyIn(keys, header)
    },
    close: () => {
      clearInterval(timer)
      closed.abort()
    },
  }
}

async function keyIn(
  keys: Keys | undefined,
  { algorithm, kid }: KeyName,
): Promise<CryptoKey | undefined> {
  try {
    return await keys?.({ alg: algorithm, kid })
  } catch (thrown) {
    // No key or several keys match. Node reports an unusable key, such as a point outside of its curve, as a DataError.
    const isUnusable = thrown instanceof DOMException && thrown.name === 'DataError'
    if (thrown instanceof errors.JOSEError || isUnusable) return undefined
    throw thrown
  }
}

async function fetchKeySet(url: string, closed: AbortSignal): Promise<Result<Keys, string>> {
  try {
    const signal = AbortSignal.any([closed, AbortSignal.timeout(timeoutMs)])
    // The operator trusts this URL only, not the target of a redirect.
    const response = await fetch(url, { signal, redirect: 'error' })
    if (!response.ok) return err(`HTTP status ${response.status}`)
    const text = await readText(response)
    return text === undefined ? err(`longer than ${maxBytes} bytes`) : parseKeySet(text)
  } catch (thrown) {
    // The error of `fetch` is generic; its cause names the connection failure.
    const { message, cause }: Partial<Error> = Object(thrown)
    return err(cause instanceof Error ? cause.message : String(message))
  }
}

async function readText({ body }: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    length += part.length
    if (length > maxBytes) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parseKeySet(text: string): Result<Keys, string> {
  let set: JSONWebKeySet
  try {
    set = JSON.parse(text)
    createLocalJWKSet(set)
  } catch {
    // Both parsers report invalid input only by throwing.
    return err('not a JSON Web Key Set')
  }
  if (set.keys.some(isSecret)) return err('contains a private key or a secret')
  const named = set.keys.filter(isUsable)
  const allowed = keySetAlgorithms.join(' or ')
  if (named.length === 0) return err(`contains no key for ${allowed} with a kid`)
  return ok(createLocalJWKSet({ keys: named }))
}

function isSecret({ kty, d }: JWK): boolean {
  return kty === 'oct' || d !== undefined
}

function isUsable({ kty, crv, kid }: JWK): boolean {
  const isOurs = (kty === 'OKP' && crv === 'Ed25519') || (kty === 'EC' && crv === 'P-256')
  return isOurs && typeof kid === 'string'
}
