import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { nowMs } from '../lib/clock.ts'
import { createHashSet, type HashSet } from '../lib/hash-set.ts'
import { sharedRead } from '../lib/shared-read.ts'
import type { Services } from '../service/services.ts'
import { logVersion } from '../service/updates/page-version.ts'

/** Caches responses of GraphQL and REST until the database changes. Concurrent equal requests share one computation. */

/** A cache of responses by request. */
export interface ResponseCache {
  /**
   * Returns the cached response if it is still valid, or computes a new one. A response is cached from the second equal request
   * on, because most requests are sent only once. Returns `undefined` when `prepare` does. Rejects when `compute` rejects.
   */
  getOrCompute(
    request: RequestKey,
    prepare: () => PreparedRequest | undefined | Promise<PreparedRequest | undefined>,
  ): Promise<string | CachedResponse | undefined>
}

/** The bytes that identify a request: equal bytes have the same meaning each time. */
export interface RequestKey {
  /** `REST` is a GET of a REST path. */
  readonly method: 'GET' | 'POST' | 'REST'
  /** The query string of a GraphQL URL, the body of a GraphQL request, or a REST path with its query string. */
  readonly text: Buffer
}

/** How long a response stays valid: until the database changes, at most until the end of the current second, or not at all. */
export type Validity = 'UNTIL_CHANGE' | 'UNTIL_NEXT_SECOND' | 'NOT'

/** A prepared request: how to compute its response, and how long the response stays valid. */
export interface PreparedRequest {
  /**
   * Creates a function that reads the version of a response that depends on the log alone: equal versions have equal responses.
   * `undefined` means no caching. It is called from the second equal request on.
   */
  readonly version?: (() => ReadVersion | undefined) | undefined
  /** Validity of a response without a version, called after `compute`; such a response is never cached when this is absent. */
  readonly validity?: () => Validity
  /** The name of the operation. */
  readonly name?: string | undefined
  compute(): Promise<string>
}

export interface CachedResponse {
  readonly body: Buffer
  /** The name of the operation. */
  readonly name: string | undefined
  /** The entity tag of the body, set when it is first needed. */
  etag: string | undefined
}

interface Entry extends CachedResponse {
  readonly request: RequestKey
  /** Reads the response's own version; `undefined` if the response is valid for one version of the database only. */
  readonly readVersion: ReadVersion | undefined
  readonly version: string
  /** Version of the log, read before the response's own version; `undefined` if it is not known. */
  log: string | undefined
  /** Expiry in Unix milliseconds; infinite when only the version limits the validity. */
  readonly until: number
}

/** The part of an entry that is known before its response is computed. */
type PendingEntry = Pick<Entry, 'request' | 'readVersion' | 'version' | 'log' | 'name'>

type ReadVersion = () => Promise<string | undefined>

/** Reads a version at a low cost; `undefined` when there is none. It is no promise where the read needs no waiting. */
type ReadSharedVersion = () => string | undefined | Promise<string | undefined>

/** Size of the cache in bytes, for all transports together. */
const maxCachedBytes = 16_777_216

/** Creates an empty cache for responses from the database of the services. */
export function openResponseCache({
  store,
  clock,
}: Pick<Services, 'store' | 'clock'>): ResponseCache {
  // A counter in memory shows each change of a database that only this process writes. Otherwise one read serves all requests.
  const versionBy = (shared: ReadVersion) => () => {
    // The version of one replica does not describe the state of another.
    return store.replicas() === undefined ? (store.changes()?.toString() ?? shared()) : undefined
  }
  return createResponseCache({
    maxBytes: maxCachedBytes,
    databaseVersion: versionBy(sharedRead(() => store.read.version())),
    logVersion: versionBy(sharedRead(() => logVersion(store.read))),
    nowMs: () => nowMs(clock),
  })
}

export interface ResponseCacheOptions {
  /** Size of all requests and responses together; the least recently used entries are evicted. */
  readonly maxBytes: number
  /** Reads a text that differs after each change of the database. */
  readonly databaseVersion: ReadSharedVersion
  /** Reads a text that differs after each change of the log. */
  readonly logVersion: ReadSharedVersion
  /** Unix time in milliseconds. */
  readonly nowMs: () => number
}

/** Creates an empty cache. */
export function createResponseCache({
  maxBytes,
  databaseVersion,
  logVersion,
  nowMs,
}: ResponseCacheOptions): ResponseCache {
  const entries = createEntries(maxBytes, nowMs)
  // Most requests are sent only once and must not cost memory, so only their hashes are stored.
  const requested = createHashSet(rememberedHashes)
  const uncacheable = createHashSet(rememberedHashes)
  const responses = createResponses({ entries, uncacheable, nowMs })

  /** Reads the current versions for a response. Its own version is not read while the log is unchanged. */
  async function versionsOf(
    readVersion: ReadVersion | undefined,
    known?: Entry,
  ): Promise<Versions> {
    if (readVersion === undefined) return { version: await databaseVersion(), log: undefined }
    const log = await logVersion()
    const isKnown = log !== undefined && log === known?.log
    return { version: isKnown ? known.version : await readVersion(), log }
  }

  return {
    getOrCompute: async (request, prepare) => {
      const hash = crc32(request.text, seeds[request.method])
      if (!requested.has(hash)) {
        requested.add(hash)
        return (await prepare())?.compute()
      }
      const known = entries.find(hash, request)
      // The versions are read before the response, and that of the log first: no response is older than either.
      const fresh = known !== undefined && entries.isFresh(known) ? known : undefined
      const current = fresh && (await versionsOf(fresh.readVersion, fresh))
      if (fresh !== undefined && current?.version === fresh.version) {
        fresh.log = current.log
        return fresh
      }
      const prepared = await prepare()
      if (prepared === undefined) return undefined
      const own = prepared.version?.()
      const readVersion = own && sharedRead(own)
      const hasVersion =
        prepared.version === undefined
          ? prepared.validity !== undefined && !uncacheable.has(hash)
          : readVersion !== undefined
      if (!hasVersion) return prepared.compute()
      const { version, log } = current ?? (await versionsOf(readVersion))
      if (version === undefined) return prepared.compute()
      const pending = { request, readVersion, version, log, name: prepared.name }
      // A response that was never cached may turn out to be valid for one client only, so other requests do not wait for it.
      if (known === undefined && prepared.version === undefined) {
        return responses.compute(hash, pending, prepared)
      }
      return responses.computeOnce(hash, pending, prepared)
    },
  }
}

/** The version of a response and of the log; `undefined` if there is none. */
interface Versions {
  readonly version: string | undefined
  readonly log: string | undefined
}

type Entries = ReturnType<typeof createEntries>

/** The cached responses by hash of their request; of two requests with the same hash, the newer one is cached. */
function createEntries(maxBytes: number, nowMs: () => number) {
  const byHash = new LRUCache<number, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ request, body }) => request.text.length + body.length + entryOverhead,
  })
  return {
    find: (hash: number, request: RequestKey): Entry | undefined => {
      const found = byHash.get(hash)
      return found !== undefined && isSame(found.request, request) ? found : undefined
    },
    isFresh: ({ until }: Entry): boolean => until === Number.POSITIVE_INFINITY || nowMs() < until,
    /** Copies the response and its request into a new entry. */
    add: (hash: number, pending: PendingEntry, text: string, until: number): Entry => {
      const { method, text: sent } = pending.request
      const request = { method, text: copyOf(sent) }
      const entry = { ...pending, request, body: copyOf(text), etag: undefined, until }
      byHash.set(hash, entry)
      return entry
    },
  }
}

interface ResponsesDeps {
  readonly entries: Entries
  readonly uncacheable: HashSet
  readonly nowMs: () => number
}

/** Computes responses, and caches those that stay valid. */
function createResponses({ entries, uncacheable, nowMs }: ResponsesDeps) {
  const inFlight = new Map<string, Promise<Entry | string>>()

  /** Returns the text alone for a response that cannot be cached. */
  async function compute(
    hash: number,
    pending: PendingEntry,
    prepared: PreparedRequest,
  ): Promise<Entry | string> {
    const second = Math.floor(nowMs() / 1_000)
    const text = await prepared.compute()
    const validity = prepared.version !== undefined ? 'UNTIL_CHANGE' : prepared.validity?.()
    if (validity === undefined || validity === 'NOT') {
      uncacheable.add(hash)
      return text
    }
    const until = validity === 'UNTIL_CHANGE' ? Number.POSITIVE_INFINITY : (second + 1) * 1_000
    return entries.add(hash, pending, text, until)
  }

  /** Shares one computation among concurrent equal requests. */
  async function computeOnce(
    hash: number,
    pending: PendingEntry,
    prepared: PreparedRequest,
  ): Promise<CachedResponse | string> {
    const key = `${pending.version} ${keyOf(pending.request)}`
    const others = inFlight.get(key)
    if (others !== undefined) {
      const theirs = await others
      // A response that is not cached is valid for one client only.
      return typeof theirs === 'string' ? await prepared.compute() : theirs
    }
    // Another request may have cached it while the version was read.
    const newest = entries.find(hash, pending.request)
    if (newest?.version === pending.version && entries.isFresh(newest)) return newest
    const computed = compute(hash, pending, prepared)
    inFlight.set(key, computed)
    try {
      return await computed
    } finally {
      inFlight.delete(key)
    }
  }

  return { compute, computeOnce }
}

/** Hash seeds by method, so that equal bytes of different methods rarely have the same hash. */
const seeds = { POST: 0, GET: 1, REST: 2 } as const

function isSame(one: RequestKey, other: RequestKey): boolean {
  return one.method === other.method && one.text.equals(other.text)
}

/** A text that is unique to the request. */
function keyOf({ method, text }: RequestKey): string {
  return `${method} ${text.toString('latin1')}`
}

/** Copies into memory of its own: a short Buffer is otherwise a slice of a pool, and would keep the whole pool in memory. */
function copyOf(given: string | Buffer): Buffer {
  if (typeof given !== 'string') return Buffer.alloc(given.length, given)
  const copy = Buffer.alloc(Buffer.byteLength(given))
  copy.write(given)
  return copy
}

/** Number of request hashes that are remembered. */
const rememberedHashes = 65_536

/** Bytes of an entry besides its texts: two Buffers and the functions that read its version. */
const entryOverhead = 800
