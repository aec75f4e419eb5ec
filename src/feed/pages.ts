import { LRUCache } from 'lru-cache'
import type { LedgerUpdate } from '../store/rows.ts'
import { type LogReader, readUpdates, type UpdateFilter } from './read.ts'

/** Page reads below the ring, shared by subscribers that catch up: equal requests share one query, full pages are cached. */

/** A request for the next rows of a filter. */
export interface PageQuery extends UpdateFilter {
  readonly after: number
  /** The newest position that may be read. */
  readonly upTo: number
  readonly limit: number
}

/** Pages of one log. */
export interface Pages {
  /** The first rows after a position, at most `limit`; fewer if `upTo` or the end of a cached page comes first. */
  read(query: PageQuery): Promise<PageRows>
  /** Empties the cache. Called when the log was replaced. */
  clear(): void
}

/** The rows of a page, and the position up to which they are complete. */
export interface PageRows {
  readonly rows: readonly LedgerUpdate[]
  readonly end: number
}

interface Page extends PageRows {
  /** Whether the page stays the same when the log grows. */
  readonly isFull: boolean
}

/** Creates a cache of at most `rowCapacity` rows. */
export function createPages(reader: Pick<LogReader, 'updates'>, rowCapacity: number): Pages {
  const pages = new LRUCache<string, Page, PageQuery>({
    maxSize: rowCapacity,
    sizeCalculation: ({ rows }) => Math.max(rows.length, 1),
    fetchMethod: (_key, _stale, { context }) => load(reader, context),
    // A caller that waits for a page when the cache is cleared still gets the page, but it is not cached.
    ignoreFetchAbort: true,
  })

  async function read(query: PageQuery): Promise<PageRows> {
    const { addresses, classes, after, limit } = query
    // Feeds of the whole ledger share aligned pages, whatever their positions in them.
    const context =
      addresses === undefined
        ? { ...query, after: after - (after % ledgerPageSize), limit: ledgerPageSize }
        : query
    const key = [classes, addresses, context.after, context.limit].join(' ')
    const page = await pages.forceFetch(key, { context })
    if (!page.isFull && pages.peek(key) === page) pages.delete(key)
    // A shared read may have begun before this request and end below the tip of this request.
    const end = Math.max(page.end, after)
    const rows = page.rows.filter(({ seq }) => seq > after)
    if (rows.length <= limit) return { rows, end }
    const first = rows.slice(0, limit)
    return { rows: first, end: first.at(-1)?.seq ?? end }
  }

  return { read, clear: () => pages.clear() }
}

/** Reads a page: `limit` rows of some addresses, or all rows of the next `limit` positions of the whole ledger. */
async function load(reader: Pick<LogReader, 'updates'>, query: PageQuery): Promise<Page> {
  const { upTo, ...rest } = query
  const { addresses, after, limit } = rest
  const last = addresses === undefined ? Math.min(after + limit, upTo) : upTo
  const rows = await readUpdates(reader, { ...rest, before: last + 1, order: 'ascending' })
  if (addresses === undefined) return { rows, end: last, isFull: last === after + limit }
  const isFull = rows.length === limit
  return { rows, end: (isFull ? rows.at(-1)?.seq : undefined) ?? last, isFull }
}

/** Number of positions of a page of the whole ledger. */
const ledgerPageSize = 500
