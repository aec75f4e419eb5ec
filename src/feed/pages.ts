import { LRUCache } from 'lru-cache'
import type { LedgerUpdate } from '../store/rows.ts'
import { type LogReader, readUpdates, type UpdateFilter } from './read.ts'

/** Page reads below the ring, shared by subscribers that catch up: equal requests are one query, full pages are kept. */

/** A request for the next rows of a filter. */
export interface PageQuery extends UpdateFilter {
  readonly after: number
  /** The newest position that may be read. */
  readonly upTo: number
  readonly limit: number
}

/** Pages of one log. */
export interface Pages {
  /** The first rows after a position, at most `limit`; fewer where no more are there up to `upTo`, or at a page's end. */
  read(query: PageQuery): Promise<PageRows>
  /** Removes everything, because the log is another one. */
  clear(): void
}

/** The rows of a page, and the position up to which there are no others. */
export interface PageRows {
  readonly rows: readonly LedgerUpdate[]
  readonly end: number
}

interface Page extends PageRows {
  /** Whether it stays as it is when the log grows. */
  readonly isFull: boolean
}

/** Keeps at most `rowCapacity` rows. */
export function createPages(reader: Pick<LogReader, 'updates'>, rowCapacity: number): Pages {
  const pages = new LRUCache<string, Page, PageQuery>({
    maxSize: rowCapacity,
    sizeCalculation: ({ rows }) => Math.max(rows.length, 1),
    fetchMethod: (_key, _stale, { context }) => load(reader, context),
    // Who waits for a page when the cache is cleared still gets it; it is not kept.
    ignoreFetchAbort: true,
  })

  async function read(query: PageQuery): Promise<PageRows> {
    const { addresses, classes, after, limit } = query
    // Feeds of the whole ledger read the same pages, whatever position in them they have reached.
    const context =
      addresses === undefined
        ? { ...query, after: after - (after % wholePage), limit: wholePage }
        : query
    const key = [classes, addresses, context.after, context.limit].join(' ')
    const page = await pages.forceFetch(key, { context })
    if (!page.isFull && pages.peek(key) === page) pages.delete(key)
    // A read under way may be older than this request, and reach less far than the tip that it knows.
    const end = Math.max(page.end, after)
    const rows = page.rows.filter(({ seq }) => seq > after)
    if (rows.length <= limit) return { rows, end }
    const first = rows.slice(0, limit)
    return { rows: first, end: first.at(-1)?.seq ?? end }
  }

  return { read, clear: () => pages.clear() }
}

/** Reads a page: of an address `limit` rows, of the whole ledger the rows of so many positions. */
async function load(reader: Pick<LogReader, 'updates'>, query: PageQuery): Promise<Page> {
  const { upTo, ...rest } = query
  const { addresses, after, limit } = rest
  const last = addresses === undefined ? Math.min(after + limit, upTo) : upTo
  const rows = await readUpdates(reader, { ...rest, before: last + 1, order: 'ascending' })
  if (addresses === undefined) return { rows, end: last, isFull: last === after + limit }
  const isFull = rows.length === limit
  return { rows, end: (isFull ? rows.at(-1)?.seq : undefined) ?? last, isFull }
}

/** Positions of a page of the whole ledger. */
const wholePage = 500
