import type { Services } from '../services.ts'
import { type Found, lookUp, maxHits, type Nothing } from './look-up.ts'
import { type Meaning, meaningsOf } from './meanings.ts'

/** Search by any text: an id, an address, a time, a number or a tag. */

/** A hit: an object, and the kind of the text that led to it. */
export type Hit = Found & { readonly by: Meaning['by'] }

/** The hits, the most specific first, or the reason why there are none. */
export interface SearchResult {
  readonly hits: readonly Hit[]
  readonly nothing: Nothing | undefined
}

/** Looks up all meanings of a text. */
export async function search(
  deps: Pick<Services, 'store' | 'source' | 'parameters'>,
  text: string,
): Promise<SearchResult> {
  const { meanings, misspelling } = meaningsOf(text)
  const answers = await Promise.all(
    meanings.map(async (meaning) => ({ by: meaning.by, answer: await lookUp(deps, meaning) })),
  )
  const found = answers.flatMap(({ by, answer }) =>
    'reason' in answer ? [] : answer.map((one) => ({ ...one, by })),
  )
  const hits = found.slice(0, maxHits)
  if (hits.length > 0) return { hits, nothing: undefined }
  const reasons = answers.flatMap(({ answer }) => ('reason' in answer ? [answer] : []))
  return { hits, nothing: reasons[0] ?? misspelling ?? unknown }
}

const unknown: Nothing = { reason: 'UNKNOWN', sentence: 'no object matches the text' }
