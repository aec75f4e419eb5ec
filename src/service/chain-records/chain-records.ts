import { err, ok, type Result } from '../../lib/result.ts'
import type { ChainRecordVersion } from '../../store/rows.ts'
import { type Cursors, keysetCursors } from '../lists/keyset-cursor.ts'
import {
  type KeysetList,
  type PageArguments,
  type Paged,
  readKeysetPage,
} from '../lists/keyset-page.ts'
import type { Services } from '../services.ts'
import { defaultPageSize } from '../updates/list-ledger-updates.ts'
import { type ChainIdError, parseChainId } from './chain-id.ts'

/** Reads chain records: the newest versions for one chain or all chains, and former versions. */

export type { ChainRecordVersion } from '../../store/rows.ts'

/** Reads the record of a chain; `undefined` if it was never set. */
export async function readChainRecord(
  { store }: Pick<Services, 'store'>,
  text: string,
): Promise<Result<ChainRecordVersion | undefined, ChainIdError>> {
  const chainId = parseChainId(text, 'chainId')
  return chainId.ok ? ok(await store.read.chainRecord(chainId.value)) : chainId
}

/** Reads one version of the record of a chain; `undefined` if the version does not exist. */
export async function readChainRecordVersion(
  { store }: Pick<Services, 'store'>,
  text: string,
  version: number,
): Promise<ChainRecordVersion | undefined> {
  const chainId = parseChainId(text, 'chainId')
  if (!chainId.ok || version >= maxVersion) return undefined
  const part = { above: [version - 1], below: [version + 1] }
  const page = { order: 'ascending', limit: 1 } as const
  return (await store.read.chainRecordHistory(chainId.value, part, page))[0]
}

/** Lists the records of all chains, by chain id. */
export function listChainRecords(
  { store }: Pick<Services, 'store'>,
  args: Omit<PageArguments, 'sort'>,
): Paged<ChainRecordVersion> {
  const list: KeysetList<ChainRecordVersion> = {
    cursors: recordCursors,
    // All characters of a Bech32 text lie between these bounds.
    whole: { above: [''], below: ['\x7f'] },
    defaultSize: defaultPageSize,
    positionOf: ({ chainId }) => [chainId],
    read: (part, page) => store.read.chainRecords(part, page),
  }
  return readKeysetPage(list, { ...args, sort: 'OLDEST' })
}

/** Cursors are encoded chain ids. A human-readable part may have any character, so a decoded text is checked as a chain id. */
const recordCursors: Cursors = {
  encode: ([chainId]) => Buffer.from(String(chainId), 'utf8').toString('base64url'),
  decode: (cursor, argument) => {
    const position = [Buffer.from(cursor, 'base64url').toString('utf8')] as const
    const isOurs =
      recordCursors.encode(position) === cursor && parseChainId(position[0], argument).ok
    return isOurs ? ok(position) : err({ code: 'CURSOR_MALFORMED', argument })
  },
}

/** Lists the versions of a chain's record, newest first. */
export function listChainRecordVersions(
  { store }: Pick<Services, 'store'>,
  chainId: string,
  args: Omit<PageArguments, 'sort'>,
): Paged<ChainRecordVersion> {
  const list: KeysetList<ChainRecordVersion> = {
    cursors: keysetCursors({ list: `version ${chainId}`, values: ['NUMBER'] }),
    whole: { above: [0], below: [maxVersion] },
    defaultSize: defaultPageSize,
    positionOf: ({ version }) => [version],
    read: (part, page) => store.read.chainRecordHistory(chainId, part, page),
  }
  return readKeysetPage(list, { ...args, sort: 'NEWEST' })
}

/** 2^31 - 1, the maximum of a signed 32-bit integer; no version reaches it. */
const maxVersion = 0x7fff_ffff
