import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'

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

/** What is asked, once it is known what that means. */
export interface Question {
  /** Reads a text that is equal for equal answers, or `undefined`; absent where the answer is never kept. */
  readonly version?: (() => () => Promise<string | undefined>) | undefined
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
  readonly readVersion: () => Promise<string | undefined>
  readonly version: string
  /** Of the time when the version was last read. */
  changes: number | undefined
}

/** How many bytes are kept for all transports together. */
export const mostAnswerBytes = 16_777_216

/** What an answer cache needs. */
export interface AnswerCacheOptions {
  /** Of questions and answers together; the least recently asked go first. */
  readonly maxBytes: number
  /** A number that is another one after each change of the database; `undefined` where only a read of it can tell. */
  readonly changes: () => Promise<number | undefined>
}

/** Keeps nothing yet. */
export function createAnswerCache({ maxBytes, changes }: AnswerCacheOptions): AnswerCache {
  // By hash: of two requests of one hash the newer is kept.
  const kept = new LRUCache<number, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ asked, body }) => asked.text.length + body.length + overhead,
  })
  // Of requests that were sent before, by their lowest bits: nearly all are never sent again, and are to cost no memory.
  const hashes = new Uint32Array(noted)
  const underWay = new Map<string, Promise<Entry>>()
  const versions = createSharedReads()

  function find(hash: number, asked: Asked): Entry | undefined {
    const found = kept.get(hash)
    return found !== undefined && isSame(found.asked, asked) ? found : undefined
  }

  async function shared(
    hash: number,
    read: Pick<Entry, 'asked' | 'readVersion' | 'version' | 'changes' | 'name'>,
    compute: Question['compute'],
  ): Promise<KeptAnswer> {
    const flight = `${read.version} ${keyOf(read.asked)}`
    const others = underWay.get(flight)
    if (others !== undefined) return others
    // Kept while the version was read.
    const newest = find(hash, read.asked)
    if (newest?.version === read.version) return newest
    const computed = compute().then((text) => {
      const { method, text: sent } = read.asked
      return { ...read, asked: { method, text: copyOf(sent) }, body: copyOf(text), etag: undefined }
    })
    underWay.set(flight, computed)
    try {
      const entry = await computed
      kept.set(hash, entry)
      return entry
    } finally {
      underWay.delete(flight)
    }
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
      if (known !== undefined) {
        if (changed !== undefined && changed === known.changes) return known
        version = await versions.read(keyOf(asked), known.readVersion)
        if (version === known.version) {
          known.changes = changed
          return known
        }
      }
      const question = prepare()
      if (question?.version === undefined) return question?.compute()
      const readVersion = known?.readVersion ?? question.version()
      version ??= await versions.read(keyOf(asked), readVersion)
      if (version === undefined) return question.compute()
      const { name } = question
      const read = { asked, readVersion, version, changes: changed, name }
      return shared(hash, read, question.compute)
    },
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
