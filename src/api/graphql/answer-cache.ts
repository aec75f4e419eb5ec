import { LRUCache } from 'lru-cache'

/** Answers that are kept while nothing has changed, and computed once for all who ask for one at the same time. */

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
  /** 32 bits; hardly any two requests have the same. */
  readonly hash: number
  /** Of no other request. */
  key(): string
}

/** What is asked, once it is known what that means. */
export interface Question {
  /** Reads a text that is equal for equal answers, or `undefined`; absent where the answer is never kept. */
  readonly version?: (() => () => Promise<string | undefined>) | undefined
  compute(): Promise<string>
}

/** An answer as it is sent each time. */
export interface KeptAnswer {
  readonly body: Buffer
  /** What was made of it to be sent again with it. */
  etag: string | undefined
}

interface Entry extends KeptAnswer {
  readonly readVersion: () => Promise<string | undefined>
  readonly version: string
  /** Of the time when the version was last read. */
  changes: number | undefined
}

/** What an answer cache needs. */
export interface AnswerCacheOptions {
  /** Of questions and answers together; the least recently asked go first. */
  readonly maxBytes: number
  /** A number that is another one after each change of the database; `undefined` where only a read of it can tell. */
  readonly changes: () => Promise<number | undefined>
}

/** Keeps nothing yet. */
export function createAnswerCache({ maxBytes, changes }: AnswerCacheOptions): AnswerCache {
  const kept = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ body }, key) => key.length + body.length + overhead,
  })
  // Of requests that were sent before, by their lowest bits: nearly all are never sent again, and are to cost no memory.
  const hashes = new Uint32Array(noted)
  const underWay = new Map<string, Promise<Entry>>()
  const versions = createSharedReads()

  async function shared(
    key: string,
    read: Pick<Entry, 'readVersion' | 'version' | 'changes'>,
    compute: Question['compute'],
  ): Promise<KeptAnswer> {
    const flight = `${read.version} ${key}`
    const others = underWay.get(flight)
    if (others !== undefined) return others
    // Kept while the version was read.
    const newest = kept.peek(key)
    if (newest?.version === read.version) return newest
    const computed = compute().then((text) => {
      return { ...read, body: Buffer.from(text), etag: undefined }
    })
    underWay.set(flight, computed)
    try {
      const entry = await computed
      kept.set(key, entry)
      return entry
    } finally {
      underWay.delete(flight)
    }
  }

  return {
    getOrCompute: async ({ hash, key: readKey }, prepare) => {
      if (hashes[hash % noted] !== hash) {
        hashes[hash % noted] = hash
        return prepare()?.compute()
      }
      const key = readKey()
      const known = kept.get(key)
      // Before the version, as that is read before the answer: no answer is older than either.
      const changed = await changes()
      let version: string | undefined
      if (known !== undefined) {
        if (changed !== undefined && changed === known.changes) return known
        version = await versions.read(key, known.readVersion)
        if (version === known.version) {
          known.changes = changed
          return known
        }
      }
      const question = prepare()
      if (question?.version === undefined) return question?.compute()
      const readVersion = known?.readVersion ?? question.version()
      version ??= await versions.read(key, readVersion)
      if (version === undefined) return question.compute()
      return shared(key, { readVersion, version, changes: changed }, question.compute)
    },
  }
}

/** How many requests are known to have been sent before. */
const noted = 65_536

/** Of an entry, beside its bytes. */
const overhead = 200

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
