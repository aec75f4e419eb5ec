import { branchOfChange, chainRecordLogId, positionOfChange } from '../../feed/chain-records.ts'
import {
  type CursorError,
  type CursorLog,
  confirmCursor,
  decodeCursor,
  encodeCursor,
  placeCursor,
} from '../../feed/cursor.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { stoppable } from '../../lib/stoppable.ts'
import type { ChainRecordVersion, LogPosition } from '../../store/rows.ts'
import { noBranch } from '../../store/values.ts'
import type { Services } from '../services.ts'
import { type ChainIdError, parseChainId } from './chain-id.ts'

/** Follows all changes of chain records, in order, from any position. */

/** The chains to follow, and the start. */
export interface ChainRecordsQuery {
  /** Chain ids as Bech32 texts; all chains if left out. */
  readonly chainIds?: readonly string[] | undefined
  /** Cursor of the last change that the client has; only new changes if left out. */
  readonly after?: string | undefined
}

/** A change: the record that was set, and its cursor. */
export interface ChainRecordChange {
  readonly cursor: string
  readonly record: ChainRecordVersion
}

/** Maximum number of chains that a request may name. */
export const maxFollowedChains = 100

/** Why the request is refused. */
export type FollowChainRecordsError =
  | ChainIdError
  | CursorError
  | { readonly code: 'CHAIN_ID_COUNT'; readonly count: number; readonly limit: number }

/** Follows changes of chain records. The iterator ends at once when its consumer calls `return()`. */
export async function followChainRecords(
  deps: Pick<Services, 'store' | 'chainRecords' | 'mayLag'>,
  { chainIds, after }: ChainRecordsQuery,
): Promise<Result<AsyncIterableIterator<ChainRecordChange>, FollowChainRecordsError>> {
  const wanted = wantedChains(chainIds)
  if (!wanted.ok) return wanted
  const named = after === undefined ? undefined : decodeCursor(after, 'after')
  if (named?.ok) await deps.store.read.reach({ change: named.value.seq })
  const end = await endOf(deps)
  const start = await startOf(deps, after, end)
  if (!start.ok) return start
  const options = { start: start.value, logId: end.logId, wanted: wanted.value }
  return ok(stoppable((signal) => emit(deps, options, signal)))
}

/** Returns the cursor of the end of the log of changes: a client that follows the changes after it gets every later change. */
export async function chainRecordTipCursor(deps: Pick<Services, 'store'>): Promise<string> {
  const { logId, seq } = await endOf(deps)
  return encodeCursor({ logId, ...(await positionAt(deps, seq)) })
}

type LogEnd = Pick<CursorLog, 'logId' | 'seq'>

async function endOf({ store: { read } }: Pick<Services, 'store'>): Promise<LogEnd> {
  const { logId } = await read.logTip()
  return { logId: chainRecordLogId(logId), seq: await read.latestChainRecordChange() }
}

async function positionAt(
  { store: { read } }: Pick<Services, 'store'>,
  seq: number,
): Promise<LogPosition> {
  const [last] = seq === 0 ? [] : await read.chainRecordChanges({ after: seq - 1, limit: 1 })
  return { seq, branch: branchOfChange(last) }
}

async function startOf(
  deps: Pick<Services, 'store' | 'mayLag'>,
  after: string | undefined,
  end: LogEnd,
): Promise<Result<LogPosition, CursorError>> {
  if (after === undefined) return ok(await positionAt(deps, end.seq))
  const log = { ...end, prunedSeq: 0, prunedBranch: noBranch, mayLag: deps.mayLag }
  const position = placeCursor(after, 'after', log)
  if (!position.ok) return position
  const { branch } = await positionAt(deps, position.value.seq)
  return confirmCursor(position.value, branch, 'after', log)
}

interface EmitOptions {
  readonly start: LogPosition
  readonly logId: Hex
  readonly wanted: ReadonlySet<string> | undefined
}

async function* emit(
  { chainRecords }: Pick<Services, 'chainRecords'>,
  { start, logId, wanted }: EmitOptions,
  signal: AbortSignal,
): AsyncGenerator<ChainRecordChange, void, undefined> {
  for await (const record of chainRecords.follow(start, signal)) {
    if (wanted !== undefined && !wanted.has(record.chainId)) continue
    yield { cursor: encodeCursor({ logId, ...positionOfChange(record) }), record }
  }
}

function wantedChains(
  texts: readonly string[] | undefined,
): Result<ReadonlySet<string> | undefined, FollowChainRecordsError> {
  if (texts === undefined) return ok(undefined)
  const { length: count } = texts
  if (count < 1 || count > maxFollowedChains) {
    return err({ code: 'CHAIN_ID_COUNT', count, limit: maxFollowedChains })
  }
  const wanted = new Set<string>()
  for (const [i, text] of texts.entries()) {
    const chainId = parseChainId(text, `chainIds.${i}`)
    if (!chainId.ok) return chainId
    wanted.add(chainId.value)
  }
  return ok(wanted)
}
