import { crc32 } from 'node:zlib'
import type { Hex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { LogPosition } from '../store/rows.ts'
import { noBranch } from '../store/values.ts'

/** A position in the log of ledger updates, as text that clients keep. */

/** A position of one log. "After the position" means a greater `seq`, whether or not the log has a row at it. */
export interface Cursor extends LogPosition {
  /** Identifies the log: 8 random bytes that are created with it. */
  readonly logId: Hex
}

/** The log that a cursor is checked against: `logTip` of the store, and `mayLag`. */
export interface CursorLog {
  readonly logId: Hex
  /** The newest position. */
  readonly seq: number
  /** Rows up to and including this position are no longer kept. */
  readonly prunedSeq: number
  /** The branch of that position. */
  readonly prunedBranch: Hex
  /** Whether another gateway may know newer rows of this log. Otherwise a cursor ahead of the tip belongs to a rewound log. */
  readonly mayLag: boolean
}

/** Why a cursor is refused. A refused cursor never returns the rows of another position. */
export type CursorError =
  | { readonly code: 'CURSOR_MALFORMED'; readonly argument: string }
  /** Also for a cursor of another branch of the history: the database is an older copy that continued differently. */
  | { readonly code: 'CURSOR_OF_ANOTHER_LOG'; readonly argument: string }
  | { readonly code: 'CURSOR_AHEAD_OF_TIP'; readonly argument: string; readonly tip: number }
  | { readonly code: 'CURSOR_EXPIRED'; readonly argument: string; readonly oldestCursor: string }

/** The 36 characters of a cursor. */
export function encodeCursor({ logId, seq, branch }: Cursor): string {
  // A process has one log at a time.
  if (logId !== writtenLogId) {
    written.write(logId.slice(2), logIdAt, 'hex')
    writtenLogId = logId
  }
  written.writeUInt32BE(Math.floor(seq / 2 ** 32), seqAt)
  written.writeUInt32BE(seq % 2 ** 32, seqAt + 4)
  written.writeUInt16BE(Number(branch.slice(0, 6)), branchAt)
  written.writeUInt32BE(Number(`0x${branch.slice(6)}`), branchAt + 2)
  written.writeUInt32BE(crc32(checked), checkAt)
  return written.toString('base64url')
}

/**
 * Decodes the text of a cursor; `argument` is the name of the text in the request. Returns `CURSOR_MALFORMED` for every text
 * that `encodeCursor` does not make: the CRC-32 (IEEE 802.3) detects every change within 32 neighbouring bits.
 */
export function decodeCursor(text: string, argument: string): Result<Cursor, CursorError> {
  const malformed = err({ code: 'CURSOR_MALFORMED', argument } as const)
  if (!form.test(text)) return malformed
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.readUInt32BE(checkAt) !== crc32(bytes.subarray(0, checkAt))) return malformed
  const seq = Number(bytes.readBigUInt64BE(seqAt))
  if (bytes[0] !== version || !Number.isSafeInteger(seq)) return malformed
  const logId = bytes.toString('hex', logIdAt, seqAt)
  const branch = bytes.toString('hex', branchAt, checkAt)
  return ok({ logId: `0x${logId}`, seq, branch: `0x${branch}` })
}

/**
 * Returns the position of a cursor text after a check against the tip of the log, or the reason of a refusal.
 * `confirmCursor` checks the branch.
 */
export function placeCursor(
  text: string,
  argument: string,
  log: CursorLog,
): Result<LogPosition, CursorError> {
  const cursor = decodeCursor(text, argument)
  return cursor.ok ? placeDecoded(cursor.value, argument, log) : cursor
}

/** Checks a decoded cursor against the tip of the log, as `placeCursor` does. */
export function placeDecoded(
  { logId, seq, branch }: Cursor,
  argument: string,
  log: CursorLog,
): Result<LogPosition, CursorError> {
  const isAhead = seq > log.seq
  if (logId !== log.logId || (isAhead && !log.mayLag)) {
    return err({ code: 'CURSOR_OF_ANOTHER_LOG', argument })
  }
  if (isAhead) return err({ code: 'CURSOR_AHEAD_OF_TIP', argument, tip: log.seq })
  return ok({ seq, branch })
}

/** Returns the position if the log has its branch there, or the reason why the log does not continue it. */
export function confirmCursor(
  position: LogPosition,
  branch: Hex,
  argument: string,
  log: CursorLog,
): Result<LogPosition, CursorError> {
  const isRemoved = position.seq < log.prunedSeq
  // A log that begins with a snapshot does not have the branches before the snapshot.
  const isUnknown = isRemoved && branch === noBranch
  if (position.branch !== branch && !isUnknown) {
    return err({ code: 'CURSOR_OF_ANOTHER_LOG', argument })
  }
  if (isRemoved) return err(cursorExpired(argument, log))
  return ok(position)
}

/** Returns the error with the oldest cursor that the log can still continue. */
export function cursorExpired(
  argument: string,
  { logId, prunedSeq, prunedBranch }: Pick<CursorLog, 'logId' | 'prunedSeq' | 'prunedBranch'>,
): CursorError {
  const oldestCursor = encodeCursor({ logId, seq: prunedSeq, branch: prunedBranch })
  return { code: 'CURSOR_EXPIRED', argument, oldestCursor }
}

/** Version 1 had no branch. */
const version = 2
const logIdAt = 1
const seqAt = 9
const branchAt = 17
const checkAt = 23
/** A multiple of 3, so that the base64 text has neither padding nor spare bits: each cursor has exactly one text. */
const byteLength = 27
const form = /^[A-Za-z0-9_-]{36}$/

/** Reused buffer for the bytes of a cursor,: a page has many cursors. */
const written = Buffer.alloc(byteLength, version)
const checked = written.subarray(0, checkAt)
let writtenLogId: Hex | undefined
