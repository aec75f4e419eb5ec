import { ok } from '../../lib/result.ts'
import { maxPageSize } from '../../service/updates/list-ledger-updates.ts'
import { parsePageSize } from '../../service/updates/update-position.ts'
import { about, asItIs, type Form, type OptionalForm, optional } from './form.ts'
import { malformed, type Parameter } from './parameters.ts'

/** Cursors of lists: `POSITION.PAGE_SIZE` (rest.md 3.4). */

/** The start and the size of a page. */
export interface PageAt<P> {
  readonly from: P
  readonly pageSize: number
}

/** Returns the page of a cursor; without a cursor the first page of the requested size. */
export function pageAt<P>({
  cursor,
  pageSize,
}: {
  readonly cursor: PageAt<P> | undefined
  readonly pageSize: number
}): PageAt<P | undefined> {
  return cursor ?? { from: undefined, pageSize }
}

/** The text form of a cursor position. */
export interface CursorForm<P> {
  /** Regular expression of the position, which the OpenAPI document contains. */
  readonly position: string
  /** The parts of the cursor by name, for errors. */
  readonly words: string
  /** Description of the parameter. */
  readonly sentence?: string
  /** Parses a text that matches the expression; returns `undefined` if it is not a valid position. */
  read(position: string): P | undefined
}

/** The query parameter of a cursor, and the response member with the next cursor. */
export interface PageCursorForm<P> {
  readonly parameter: Parameter<PageAt<P> | undefined>
  readonly next: OptionalForm<string>
}

/** Declares the cursor of a list. */
export function pageCursor<P>({
  position,
  words,
  sentence = 'Cursor from the previous page.',
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
        return ok({ from, pageSize: Math.min(size, maxPageSize) })
      },
    },
    next: nextCursor(asItIs({ type: 'string', pattern })),
  }
}

/** The response member with the cursor of the next page. */
export function nextCursor(form: Form<string>): OptionalForm<string> {
  return optional(about('Cursor of the next page; absent on the last page.', form))
}
