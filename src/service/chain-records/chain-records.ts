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
  const part = { above: [version - 1], below: [version + 1] }
  const page = { order: 'ascending', limit: 1 } as const
  return (await store.read.chainRecordHistory(chainId.value, part, page))[0]
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

/** The versions of a chain's record, newest first. */
export function listChainRecordVersions(
  { store }: Pick<Services, 'store'>,
  chainId: string,
  args: Omit<PageArguments, 'sort'>,
): Paged<ChainRecordVersion> {
  const list: KeysetList<ChainRecordVersion> = {
    cursors: versionCursors,
    whole: { above: [0], below: [greatestVersion] },
    defaultSize: defaultPageSize,
    positionOf: ({ version }) => [version],
    read: (part, page) => store.read.chainRecordHistory(chainId, part, page),
  }
  return readKeysetPage(list, { ...args, sort: 'NEWEST' })
}

const versionCursors = keysetCursors({ list: 'version', values: ['NUMBER'] })

/** 2^31 - 1: versions have 32 bits, and none is as high. */
const greatestVersion = 0x7fff_ffff
