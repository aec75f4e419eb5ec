import { err, ok, type Result } from '../../lib/result.ts'
import type { ChainRecordVersion } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { type ChainIdError, parseChainId } from './chain-id.ts'

/** Reads chain records: the newest version of one or of all chains, and the versions before it. */

/** The most records or versions of a page. */
export const maxChainRecordPage = 1000

/** Why a page of chain records was refused. */
export type ChainRecordPageError =
  | { readonly code: 'CHAIN_RECORD_CURSOR_MALFORMED'; readonly argument: string }
  | {
      readonly code: 'CHAIN_RECORD_PAGE_SIZE'
      readonly argument: string
      readonly value: number
      readonly limit: number
    }

/** A version of a record in the form that the transports show. */
export type ChainRecordView = ChainRecordVersion

/** Some chain records, by chain id. */
export interface ChainRecordPage {
  readonly records: readonly ChainRecordVersion[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
}

/** The record of a chain, or `undefined` when none was ever set. */
export async function readChainRecord(
  { store }: Pick<Services, 'store'>,
  text: string,
): Promise<Result<ChainRecordVersion | undefined, ChainIdError>> {
  const chainId = parseChainId(text, 'chainId')
  return chainId.ok ? ok(await store.read.chainRecord(chainId.value)) : chainId
}

/** One version of the record of a chain; `undefined` where there is none. */
export async function readChainRecordVersion(
  { store }: Pick<Services, 'store'>,
  text: string,
  version: number,
): Promise<ChainRecordVersion | undefined> {
  const chainId = parseChainId(text, 'chainId')
  if (!chainId.ok) return undefined
  const page = { before: version + 1, limit: 1 }
  const [newest] = await store.read.chainRecordHistory(chainId.value, page)
  return newest?.version === version ? newest : undefined
}

/** The records of all chains after a cursor. */
export async function listChainRecords(
  { store }: Pick<Services, 'store'>,
  page: { readonly first: number; readonly after: string | undefined },
): Promise<Result<ChainRecordPage, ChainRecordPageError>> {
  const refused = checkSize('first', page.first)
  if (refused !== undefined) return err(refused)
  const after = page.after === undefined ? undefined : decodeChainRecordCursor(page.after)
  if (page.after !== undefined && after === undefined) {
    return err({ code: 'CHAIN_RECORD_CURSOR_MALFORMED', argument: 'after' })
  }
  const [found, lowest] = await Promise.all([
    // One row more than the page shows whether there is a next page.
    store.read.chainRecords({ ...(after !== undefined && { after }), limit: page.first + 1 }),
    store.read.chainRecords({ limit: 1 }),
  ])
  const first = lowest[0]
  return ok({
    records: found.slice(0, page.first),
    hasNextPage: found.length > page.first,
    hasPreviousPage: after !== undefined && first !== undefined && first.chainId <= after,
  })
}

/** The versions of a chain's record, newest first, older than `before` where it is given. */
export async function listChainRecordVersions(
  { store }: Pick<Services, 'store'>,
  chainId: string,
  page: { readonly first: number; readonly before: number | undefined },
): Promise<Result<readonly ChainRecordVersion[], ChainRecordPageError>> {
  const refused = checkSize('first', page.first)
  if (refused !== undefined) return err(refused)
  const { first: limit, before } = page
  const range = before === undefined ? { limit } : { limit, before }
  return ok(await store.read.chainRecordHistory(chainId, range))
}

/** The cursor of a record: a position in the order of chain ids, whether or not a record is there. */
export function encodeChainRecordCursor(chainId: string): string {
  return Buffer.from(chainId, 'utf8').toString('base64url')
}

/** Only a chain id can have been encoded, so nothing else is decoded. */
function decodeChainRecordCursor(cursor: string): string | undefined {
  const chainId = Buffer.from(cursor, 'base64url').toString('utf8')
  const isOurs = encodeChainRecordCursor(chainId) === cursor && parseChainId(chainId, 'after').ok
  return isOurs ? chainId : undefined
}

function checkSize(argument: string, value: number): ChainRecordPageError | undefined {
  if (value >= 0 && value <= maxChainRecordPage) return undefined
  return { code: 'CHAIN_RECORD_PAGE_SIZE', argument, value, limit: maxChainRecordPage }
}
