import type { LedgerUpdate } from '../store/rows.ts'
import { type LogReader, readUpdates, type UpdateFilter } from './read.ts'

/** Page reads below the ring, shared by those who catch up: equal questions are one query, full pages are kept. */

/** A question for the next rows of a filter. */
export interface PageQuery extends UpdateFilter {
  readonly after: number
  /** The newest position that may be read. */
  readonly upTo: number
  readonly limit: number
}

/** Pages of one log. */
export interface Pages {
  /** The first rows behind a position, at most `limit`; fewer only where no more are there up to `upTo`, or at a page's end. */
  read(question: PageQuery): Promise<PageRows>
  /** Forgets everything: it is another log now. */
  clear(): void
}

/** The rows of a page, and how far nothing else is there. */
export interface PageRows {
  readonly rows: readonly LedgerUpdate[]
  readonly end: number
}

/** Keeps at most so many rows. */
export function createPages(reader: Pick<LogReader, 'updates'>, rowCapacity: number): Pages {
  const kept = new Map<string, readonly LedgerUpdate[]>()
  const underWay = new Map<string, Promise<readonly LedgerUpdate[]>>()
  let keptRows = 0

  async function read(question: PageQuery): Promise<PageRows> {
    const { addresses, after, upTo, limit } = question
    // All who follow the whole ledger read the same pages, wherever in them they stand.
    const start = addresses === undefined ? after - (after % wholePage) : after
    const end = addresses === undefined ? Math.min(start + wholePage, upTo) : upTo
    const size = addresses === undefined ? wholePage : limit
    const rows = await rowsOf({ ...question, after: start, upTo: end, limit: size })
    const behind = start === after ? rows : rows.filter((row) => row.seq > after)
    if (behind.length > limit) return cut(behind, limit)
    const isFull = rows.length === size && addresses !== undefined
    return { rows: behind, end: isFull ? (rows.at(-1)?.seq ?? end) : end }
  }

  async function rowsOf(question: PageQuery): Promise<readonly LedgerUpdate[]> {
    const { addresses, classes, after, upTo, limit } = question
    const page = [classes, addresses, after, limit].join(' ')
    const found = kept.get(page)
    if (found !== undefined) {
      // The oldest use stands first.
      kept.delete(page)
      kept.set(page, found)
      return found
    }
    const asked = `${page} ${upTo}`
    const running = underWay.get(asked) ?? load(question)
    underWay.set(asked, running)
    try {
      const rows = await running
      const isWhole = addresses === undefined ? upTo - after === wholePage : rows.length === limit
      if (isWhole && underWay.get(asked) === running) keep(page, rows)
      return rows
    } finally {
      if (underWay.get(asked) === running) underWay.delete(asked)
    }
  }

  function load({ upTo, ...question }: PageQuery): Promise<readonly LedgerUpdate[]> {
    return readUpdates(reader, { ...question, before: upTo + 1, order: 'ascending' })
  }

  function keep(page: string, rows: readonly LedgerUpdate[]): void {
    kept.set(page, rows)
    keptRows += rows.length
    for (const [oldest, its] of kept) {
      if (keptRows <= rowCapacity) break
      kept.delete(oldest)
      keptRows -= its.length
    }
  }

  /** What is under way is given to those who asked for it, and not kept. */
  function clear(): void {
    kept.clear()
    underWay.clear()
    keptRows = 0
  }

  return { read, clear }
}

/** Positions of a page of the whole ledger. */
const wholePage = 500

function cut(rows: readonly LedgerUpdate[], limit: number): PageRows {
  const some = rows.slice(0, limit)
  return { rows: some, end: some.at(-1)?.seq ?? 0 }
}
