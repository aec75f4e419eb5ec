import { LRUCache } from 'lru-cache'

/** Answers that are kept while nothing has changed, and computed once for all who ask for one at the same time. */

/** Answers by what was asked. */
export interface AnswerCache {
  /** The kept answer of this version, or what `compute` gives, which is then kept. Rejects as `compute` does, and keeps nothing then. */
  getOrCompute(key: string, version: string, compute: () => Promise<string>): Promise<string>
}

interface Entry {
  readonly version: string
  readonly text: string
}

/** Keeps at most so many characters of questions and answers; the least recently asked go first. */
export function createAnswerCache(maxCharacters: number): AnswerCache {
  const kept = new LRUCache<string, Entry>({
    maxSize: maxCharacters,
    sizeCalculation: ({ version, text }, key) =>
      key.length + version.length + text.length + overhead,
  })
  const underWay = new Map<string, Promise<string>>()

  return {
    getOrCompute: async (key, version, compute) => {
      const known = kept.get(key)
      if (known?.version === version) return known.text
      const flight = `${version} ${key}`
      const shared = underWay.get(flight)
      if (shared !== undefined) return shared
      const computed = compute()
      underWay.set(flight, computed)
      try {
        const text = await computed
        kept.set(key, { version, text })
        return text
      } finally {
        underWay.delete(flight)
      }
    },
  }
}

/** Of an entry, beside its texts. */
const overhead = 200
