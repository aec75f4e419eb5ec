import { LRUCache } from 'lru-cache'

/** Cache of serialised events, for subscribers that receive the same event a little later. */

/** A serialised event, rendered once for all its subscribers. */
export interface SharedText {
  /** JSON without line feeds. */
  readonly text: string
  /** The cursor from which a client resumes; `undefined` if the event changes no position. */
  readonly cursor: string | undefined
}

/** Texts by key. `forceFetch(key, { context: render })` renders a missing text once for all concurrent callers. */
export type Texts = LRUCache<string, SharedText, () => Promise<SharedText>>

/** Creates a cache of at most `capacity` characters in total. */
export function createTexts(capacity: number): Texts {
  return new LRUCache({
    maxSize: capacity,
    sizeCalculation: ({ text }, key) => text.length + key.length + overhead,
    fetchMethod: (_key, _stale, { context: render }) => render(),
    // A text that is evicted during its rendering is still returned to its callers.
    ignoreFetchAbort: true,
  })
}

/** Approximate size of an entry beside its characters. */
const overhead = 300
