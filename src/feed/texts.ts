/** Serialised events, kept for a while for those who are told the same a little later. */

/** An event as the doors send it, made once for all who are told it. */
export interface SharedText {
  /** JSON without line feeds. */
  readonly text: string
  /** Where to resume after it; `undefined` where the event changes no position. */
  readonly cursor: string | undefined
}

/** Kept texts by key; the least recently used go first. */
export interface Texts {
  /** The text of a key; made when it is not there, and once for all who ask meanwhile. */
  getOrCreate(key: string, make: () => Promise<SharedText>): Promise<SharedText>
}

/** Keeps texts of so many characters in all. */
export function createTexts(capacity: number): Texts {
  const kept = new Map<string, { readonly text: Promise<SharedText>; size: number }>()
  let size = 0

  function once(key: string, make: () => Promise<SharedText>): Promise<SharedText> {
    const found = kept.get(key)
    if (found !== undefined) {
      kept.delete(key)
      kept.set(key, found)
      return found.text
    }
    const entry = { text: make(), size: 0 }
    kept.set(key, entry)
    entry.text.then(
      ({ text }) => grow(key, entry, text.length + key.length + overhead),
      // Whoever asked is told the reason; the next one tries again.
      () => drop(key, entry),
    )
    return entry.text
  }

  function grow(key: string, entry: { size: number }, by: number): void {
    if (kept.get(key) !== entry) return
    entry.size = by
    size += by
    for (const [oldest, its] of kept) {
      if (size <= capacity) break
      drop(oldest, its)
    }
  }

  function drop(key: string, entry: { readonly size: number }): void {
    if (kept.get(key) !== entry) return
    kept.delete(key)
    size -= entry.size
  }

  return { getOrCreate: once }
}

/** What an entry costs beside its characters, roughly. */
const overhead = 300
