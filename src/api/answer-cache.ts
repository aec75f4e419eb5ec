import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Services } from '../service/services.ts'

/** Answers of GraphQL and REST that are kept while nothing has changed, and computed once for all who ask for one at the same time. */

/** Answers by what was asked. */
export interface AnswerCache {
  /**
   * The answer that is kept and still right; or the one that is computed, which is then kept, but what is asked for the first
   * time is only noted, for most of that is never asked again. `undefined` where `prepare` gives no question. Rejects as
   * `compute` does.
   */
  getOrCompute(
    asked: Asked,
    prepare: () => Question | undefined,
  ): Promise<string | KeptAnswer | undefined>
}

/** A request as it was sent, which means the same each time. */
export interface Asked {
  /** REST: by GET, with the path. */
  readonly method: 'GET' | 'POST' | 'REST'
  /** The query of a URL, a body, or a path with its query. */
  readonly text: Buffer
}

/** For how long an answer is right: as long as the database does not change, no longer than its second, or not at all. */
export type Lasting = 'UNTIL_CHANGE' | 'UNTIL_NEXT_SECOND' | 'NOT'

/** What is asked, once it is known what that means. */
export interface Question {
  /** Reads a text that is equal for equal answers, or `undefined`. */
  readonly version?: (() => () => Promise<string | undefined>) | undefined
  /** Where there is no such text, for how long the answer lasts, once it is computed; absent where it is never kept. */
  readonly lasting?: () => Lasting
  /** The name of the operation. */
  readonly name?: string | undefined
  compute(): Promise<string>
}

/** An answer as it is sent each time. */
export interface KeptAnswer {
  readonly body: Buffer
  /** Of the question. */
  readonly name: string | undefined
  /** What was made of it to be sent again with it. */
  etag: string | undefined
}

interface Entry extends KeptAnswer {
  readonly asked: Asked
  readonly readVersion: ReadVersion
  readonly version: string
  /** Of the time when the version was last read. */
  changes: number | undefined
  /** In Unix milliseconds; infinite where the version alone says whether it is right. */
  readonly until: number
}

/** What is known of an answer before it is computed. */
type Read = Pick<Entry, 'asked' | 'readVersion' | 'version' | 'changes' | 'name'>

type ReadVersion = () => Promise<string | undefined>

/** How many bytes are kept for all transports together. */
export const mostAnswerBytes = 16_777_216

/** Over the database of the services; it keeps nothing yet. */
export function openAnswerCache({ store, clock }: Pick<Services, 'store' | 'clock'>): AnswerCache {
  return createAnswerCache({
    maxBytes: mostAnswerBytes,
    changes: () => store.read.changes(),
    // What one replica says of its changes says nothing about another one.
    databaseVersion: async () =>
      store.replicas() === undefined ? await store.read.version() : undefined,
    nowMs: () => Number(clock.nowNs() / 1_000_000n),
  })
}

/** What an answer cache needs. */
export interface AnswerCacheOptions {
  /** Of questions and answers together; the least recently asked go first. */
  readonly maxBytes: number
  /** A number that is another one after each change of the database; `undefined` where only a read of it can tell. */
  readonly changes: () => Promise<number | undefined>
  /** Reads a text that is another one after each change of the database; `undefined` where none can tell. */
  readonly databaseVersion: () => Promise<string | undefined>
  /** Unix time. */
  readonly nowMs: () => number
}

/** Keeps nothing yet. */
export function createAnswerCache({
  maxBytes,
  changes,
  databaseVersion,
  nowMs,
}: AnswerCacheOptions): AnswerCache {
  // By hash: of two requests of one hash the newer is kept.
  const kept = new LRUCache<number, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ asked, body }) => asked.text.length + body.length + overhead,
  })
  // Of requests that were sent before, by their lowest bits: nearly all are never sent again, and are to cost no memory.
  const hashes = new Uint32Array(noted)
  // The same of those whose answers do not last.
  const hashesOfFleeting = new Uint32Array(noted)
  const underWay = new Map<string, Promise<Entry | string>>()
  const versions = createSharedReads()

  function find(hash: number, asked: Asked): Entry | undefined {
    const found = kept.get(hash)
    return found !== undefined && isSame(found.asked, asked) ? found : undefined
  }

  /** One read for all who ask for the same, and one for all answers of the whole database. */
  function readOf(asked: Asked, readVersion: ReadVersion): Promise<string | undefined> {
    return versions.read(readVersion === databaseVersion ? '' : keyOf(asked), readVersion)
  }

  /** The text alone of an answer that does not last. */
  async function compute(hash: number, read: Read, question: Question): Promise<Entry | string> {
    const second = Math.floor(nowMs() / 1_000)
    const text = await question.compute()
    const lasting = question.version !== undefined ? 'UNTIL_CHANGE' : question.lasting?.()
    if (lasting === undefined || lasting === 'NOT') {
      hashesOfFleeting[hash % noted] = hash
      return text
    }
    const { method, text: sent } = read.asked
    const asked = { method, text: copyOf(sent) }
    const until = lasting === 'UNTIL_CHANGE' ? Number.POSITIVE_INFINITY : (second + 1) * 1_000
    const entry = { ...read, asked, body: copyOf(text), etag: undefined, until }
    kept.set(hash, entry)
    return entry
  }

  async function shared(
    hash: number,
    read: Read,
    question: Question,
  ): Promise<KeptAnswer | string> {
    const flight = `${read.version} ${keyOf(read.asked)}`
    const others = underWay.get(flight)
    if (others !== undefined) {
      const theirs = await others
      // It turned out to be for one client alone.
      return typeof theirs === 'string' ? await question.compute() : theirs
    }
    // Kept while the version was read.
    const newest = find(hash, read.asked)
    if (newest?.version === read.version && isInTime(newest)) return newest
    const computed = compute(hash, read, question)
    underWay.set(flight, computed)
    try {
      return await computed
    } finally {
      underWay.delete(flight)
    }
  }

  function isInTime({ until }: Entry): boolean {
    return until === Number.POSITIVE_INFINITY || nowMs() < until
  }

  return {
    getOrCompute: async (asked, prepare) => {
      const hash = crc32(asked.text, seeds[asked.method])
      if (hashes[hash % noted] !== hash) {
        hashes[hash % noted] = hash
        return prepare()?.compute()
      }
      const known = find(hash, asked)
      // Before the version, as that is read before the answer: no answer is older than either.
      const changed = await changes()
      let version: string | undefined
      if (known !== undefined && isInTime(known)) {
        if (changed !== undefined && changed === known.changes) return known
        version = await readOf(asked, known.readVersion)
        if (version === known.version) {
          known.changes = changed
          return known
        }
      }
      const question = prepare()
      if (question === undefined) return undefined
      const readVersion = known?.readVersion ?? versionOf(hash, question)
      if (readVersion === undefined) return question.compute()
      version ??= await readOf(asked, readVersion)
      if (version === undefined) return question.compute()
      const { name } = question
      const read = { asked, readVersion, version, changes: changed, name }
      // What has never been kept may turn out to be for one client alone, and is not waited for.
      if (known === undefined && question.version === undefined) {
        return compute(hash, read, question)
      }
      return shared(hash, read, question)
    },
  }

  function versionOf(hash: number, { version, lasting }: Question): ReadVersion | undefined {
    if (version !== undefined) return version()
    const isFleeting = hashesOfFleeting[hash % noted] === hash
    return lasting === undefined || isFleeting ? undefined : databaseVersion
  }
}

/** So that the same bytes sent in another way seldom have the same hash. */
const seeds = { POST: 0, GET: 1, REST: 2 } as const

function isSame(one: Asked, other: Asked): boolean {
  return one.method === other.method && one.text.equals(other.text)
}

/** Of no other request. */
function keyOf({ method, text }: Asked): string {
  return `${method} ${text.toString('latin1')}`
}

/** Memory of its own: a short Buffer is otherwise a part of a larger piece, all of which it would keep. */
function copyOf(given: string | Buffer): Buffer {
  if (typeof given !== 'string') return Buffer.alloc(given.length, given)
  const copy = Buffer.alloc(Buffer.byteLength(given))
  copy.write(given)
  return copy
}

/** How many requests are known to have been sent before. */
const noted = 65_536

/** Of an entry, beside its bytes: two Buffers, and what reads its version. */
const overhead = 600

/** Reads for several at once: who asks while one is under way waits for the next, for the former may have begun before a change. */
function createSharedReads() {
  type Read = Promise<string | undefined>
  const begun = new Map<string, Read>()
  const next = new Map<string, Read>()

  function begin(key: string, read: () => Read): Read {
    const reading = read().finally(() => {
      if (begun.get(key) === reading) begun.delete(key)
    })
    begun.set(key, reading)
    return reading
  }

  return {
    read: (key: string, read: () => Read): Read => {
      const former = begun.get(key)
      if (former === undefined) return begin(key, read)
      const waiting = next.get(key)
      if (waiting !== undefined) return waiting
      const later = () => {
        next.delete(key)
        return begin(key, read)
      }
      const following = former.then(later, later)
      next.set(key, following)
      return following
    },
  }
}
