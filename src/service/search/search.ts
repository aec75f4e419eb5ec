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
  const hits = withoutRepeats(found).slice(0, maxHits)
  if (hits.length > 0) return { hits, nothing: undefined }
  const reasons = answers.flatMap(({ answer }) => ('reason' in answer ? [answer] : []))
  return { hits, nothing: reasons[0] ?? misspelling ?? unknown }
}

const unknown: Nothing = { reason: 'UNKNOWN', sentence: 'no object matches the text' }

/** Keeps the first hit of each object: the whole id of a chain is also the beginning of its id. */
function withoutRepeats(found: readonly Hit[]): readonly Hit[] {
  const names = found.map(nameOf)
  return found.filter((_, i) => names.indexOf(names[i] ?? '') === i)
}

/** A text that identifies an object. */
function nameOf({ kind, thing }: Found): string {
  switch (kind) {
    case 'BLOCK':
      return thing.blockId
    case 'TRANSACTION':
      return thing.transactionId
    case 'MILESTONE':
      return thing.commitmentId
    case 'OUTPUT':
      return thing.outputId
    case 'ADDRESS':
      return thing
    default:
      return `${kind} ${thing.chainId}`
  }
}
