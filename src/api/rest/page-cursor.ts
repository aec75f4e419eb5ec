import { ok } from '../../lib/result.ts'
import { maximumPageSize } from '../../service/updates/list-ledger-updates.ts'
import { parsePageSize } from '../../service/updates/update-position.ts'
import { about, asItIs, type Form, type OptionalForm, optional } from './form.ts'
import { malformed, type Parameter } from './parameters.ts'

/** The cursors of lists: `POSITION.PAGE_SIZE` (rest.md 3.4). */

/** Where a page begins and how long it is. */
export interface PageAt<P> {
  readonly from: P
  readonly pageSize: number
}

/** The page that a cursor names; without one the first page of the size asked for. */
export function pageAt<P>({
  cursor,
  pageSize,
}: {
  readonly cursor: PageAt<P> | undefined
  readonly pageSize: number
}): PageAt<P | undefined> {
  return cursor ?? { from: undefined, pageSize }
}

/** How the position of a cursor is written. */
export interface CursorForm<P> {
  /** A regular expression of the position, which the OpenAPI document shows. */
  readonly position: string
  /** The whole cursor in words, for errors. */
  readonly words: string
  /** What the parameter is documented with. */
  readonly sentence?: string
  /** Reads a text of that expression; `undefined` where it is no position all the same. */
  read(position: string): P | undefined
}

/** The query parameter of a cursor, and the member of an answer that has the next one. */
export interface PageCursorForm<P> {
  readonly parameter: Parameter<PageAt<P> | undefined>
  readonly next: OptionalForm<string>
}

/** Declares the cursor of a list. */
export function pageCursor<P>({
  position,
  words,
  sentence = 'Of the page before.',
  read,
}: CursorForm<P>): PageCursorForm<P> {
  const pattern = `^${position}\\.[0-9]{1,20}$`
  const form = new RegExp(`^${position}$`)
  return {
    parameter: {
      shape: about(sentence, asItIs({ type: 'string', pattern })).shape,
      read: (cursor, { name }) => {
        if (cursor === undefined) return ok(undefined)
        const at = cursor.lastIndexOf('.')
        const written = cursor.slice(0, Math.max(at, 0))
        const size = parsePageSize(cursor.slice(at + 1))
        const from = form.test(written) ? read(written) : undefined
        if (from === undefined || size === undefined) return malformed(name, words)
        return ok({ from, pageSize: Math.min(size, maximumPageSize) })
      },
    },
    next: nextCursor(asItIs({ type: 'string', pattern })),
  }
}

/** The member of an answer that has the cursor of the next page. */
export function nextCursor(form: Form<string>): OptionalForm<string> {
  return optional(about('Where the next page begins; absent where there is none.', form))
}
