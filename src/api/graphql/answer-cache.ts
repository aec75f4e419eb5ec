import { LRUCache } from 'lru-cache'

/** Answers that are kept while nothing has changed, and computed once for all who ask for one at the same time. */

/** Answers by what was asked. */
export interface AnswerCache {
  /**
   * The answer that is kept of this version, or the one that `compute` gives, which is then kept; but what is asked for the first time
   * is only noted, for most of that is never asked again. Without a version nothing is kept. Rejects as `compute` does.
   */
  getOrCompute(key: string, question: Question): Promise<string>
}

/** What is asked. */
export interface Question {
  /** Equal texts for equal answers. */
  version(): Promise<string | undefined>
  compute(): Promise<string>
}

interface Entry {
  /** `undefined` of what was asked once. */
  readonly version: string | undefined
  readonly text: string
}

/** Keeps at most so many characters of questions and answers; the least recently asked go first. */
export function createAnswerCache(maxCharacters: number): AnswerCache {
  const kept = new LRUCache<string, Entry>({
    maxSize: maxCharacters,
    sizeCalculation: ({ text }, key) => key.length + text.length + overhead,
  })
  const underWay = new Map<string, Promise<string>>()

  async function shared(key: string, version: string, compute: Question['compute']) {
    const flight = `${version} ${key}`
    const others = underWay.get(flight)
    if (others !== undefined) return others
    const computed = compute()
    underWay.set(flight, computed)
    try {
      const text = await computed
      kept.set(key, { version, text })
      return text
    } finally {
      underWay.delete(flight)
    }
  }

  return {
    getOrCompute: async (key, { version: readVersion, compute }) => {
      const known = kept.get(key)
      if (known === undefined) {
        kept.set(key, askedOnce)
        return compute()
      }
      // Before the answer, so that no answer is older than its version.
      const version = await readVersion()
      if (version === undefined) return compute()
      return known.version === version ? known.text : shared(key, version, compute)
    },
  }
}

const askedOnce: Entry = { version: undefined, text: '' }

/** Of an entry, beside its texts. */
const overhead = 200
