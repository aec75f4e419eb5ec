import { LRUCache } from 'lru-cache'

/** Serialised events, kept for a while for subscribers that get the same event a little later. */

/** An event as the transports send it, made once for all its subscribers. */
export interface SharedText {
  /** JSON without line feeds. */
  readonly text: string
  /** The cursor to resume after; `undefined` where the event changes no position. */
  readonly cursor: string | undefined
}

/** Texts by key; `forceFetch(key, { context: render })` renders a missing one, once for all callers. */
export type Texts = LRUCache<string, SharedText, () => Promise<SharedText>>

/** Keeps texts of at most `capacity` characters in all. */
export function createTexts(capacity: number): Texts {
  return new LRUCache({
    maxSize: capacity,
    sizeCalculation: ({ text }, key) => text.length + key.length + overhead,
    fetchMethod: (_key, _stale, { context: render }) => render(),
    // A text that is evicted while it is rendered is still given to its callers.
    ignoreFetchAbort: true,
  })
}

/** What an entry costs beside its characters, roughly. */
const overhead = 300
