import { err, ok, type Result } from '../../lib/result.ts'
import type { ChainRecordVersion } from '../../store/rows.ts'
import type { Cursors } from '../lists/keyset-cursor.ts'
import {
  type KeysetList,
  type PageArguments,
  type Paged,
  readKeysetPage,
} from '../lists/keyset-page.ts'
import type { Services } from '../services.ts'
import {
  defaultPageSize,
  type PageSizeOutOfRange,
  sizeFault,
} from '../updates/list-ledger-updates.ts'
import { type ChainIdError, parseChainId } from './chain-id.ts'

/** Reads chain records: the newest version of one or of all chains, and the versions before it. */

/** A version of a record in the form that the transports show. */
export type ChainRecordView = ChainRecordVersion

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

/** The records of all chains, by chain id. */
export function listChainRecords(
  { store }: Pick<Services, 'store'>,
  args: Omit<PageArguments, 'sort'>,
): Paged<ChainRecordVersion> {
  const list: KeysetList<ChainRecordVersion> = {
    cursors: recordCursors,
    // All characters of a Bech32 text lie between.
    whole: { above: [''], below: ['\x7f'] },
    defaultSize: defaultPageSize,
    positionOf: ({ chainId }) => [chainId],
    read: (part, page) => store.read.chainRecords(part, page),
  }
  return readKeysetPage(list, { ...args, sort: 'OLDEST' })
}

/** The chain id, whose human-readable part may have any character: only a chain id is decoded. */
const recordCursors: Cursors = {
  encode: ([chainId]) => Buffer.from(String(chainId), 'utf8').toString('base64url'),
  decode: (cursor, argument) => {
    const position = [Buffer.from(cursor, 'base64url').toString('utf8')] as const
    const isOurs =
      recordCursors.encode(position) === cursor && parseChainId(position[0], argument).ok
    return isOurs ? ok(position) : err({ code: 'CURSOR_MALFORMED', argument })
  },
}

/** The versions of a chain's record, newest first, older than `before` where it is given. */
export async function listChainRecordVersions(
  { store }: Pick<Services, 'store'>,
  chainId: string,
  page: { readonly first: number; readonly before: number | undefined },
): Promise<Result<readonly ChainRecordVersion[], PageSizeOutOfRange>> {
  const refused = sizeFault('first', page.first)
  if (refused !== undefined) return err(refused)
  const { first: limit, before } = page
  const range = before === undefined ? { limit } : { limit, before }
  return ok(await store.read.chainRecordHistory(chainId, range))
}
