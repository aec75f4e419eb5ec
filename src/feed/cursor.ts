import type { Hex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { LogPosition } from '../store/rows.ts'

/** A position in the log of ledger updates, as text that clients keep. Runs in a browser too. */

/** A position of one log; `after` it means a greater `seq`, whether or not there is a row. */
export interface Cursor extends LogPosition {
  /** Names the log: 8 random bytes, made with it. */
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
  /** Whether another gateway may know more of this log. If none can, a cursor ahead of the tip belongs to a log that was rewound. */
  readonly mayLag: boolean
}

/** Why a cursor was refused. Wrong rows are never returned instead. */
export type CursorError =
  | { readonly code: 'CURSOR_MALFORMED'; readonly argument: string }
  /** Also of another branch of the history: the database is an older copy that went on differently. */
  | { readonly code: 'CURSOR_OF_ANOTHER_LOG'; readonly argument: string }
  | { readonly code: 'CURSOR_AHEAD_OF_TIP'; readonly argument: string; readonly tip: number }
  | { readonly code: 'CURSOR_EXPIRED'; readonly argument: string; readonly oldestCursor: string }

/** The 36 characters of a cursor. */
export function encodeCursor(cursor: Cursor): string {
  const bytes = new Uint8Array(byteLength)
  const view = new DataView(bytes.buffer)
  bytes[0] = version
  view.setBigUint64(logIdAt, BigInt(cursor.logId))
  view.setBigUint64(seqAt, BigInt(cursor.seq))
  view.setUint16(branchAt, Number(cursor.branch.slice(0, 6)))
  view.setUint32(branchAt + 2, Number(`0x${cursor.branch.slice(6)}`))
  view.setUint32(checkAt, crc32(bytes.subarray(0, checkAt)))
  return toBase64Url(bytes)
}

/**
 * The cursor of a text; `argument` is its name in the request. `CURSOR_MALFORMED` for every text that
 * `encodeCursor` does not make: the check notices each change of one character.
 */
export function decodeCursor(text: string, argument: string): Result<Cursor, CursorError> {
  const malformed = err({ code: 'CURSOR_MALFORMED', argument } as const)
  if (!form.test(text)) return malformed
  const bytes = fromBase64Url(text)
  const view = new DataView(bytes.buffer)
  if (view.getUint32(checkAt) !== crc32(bytes.subarray(0, checkAt))) return malformed
  const seq = view.getBigUint64(seqAt)
  if (bytes[0] !== version || seq > BigInt(Number.MAX_SAFE_INTEGER)) return malformed
  const logId = digits(view.getUint32(logIdAt), 8) + digits(view.getUint32(logIdAt + 4), 8)
  const branch = digits(view.getUint16(branchAt), 4) + digits(view.getUint32(branchAt + 2), 8)
  return ok({ logId: `0x${logId}`, seq: Number(seq), branch: `0x${branch}` })
}

/**
 * The position of a cursor's text, checked against the tip of the log, or why there is none. `confirmCursor` checks the
 * branch.
 */
export function placeCursor(
  text: string,
  argument: string,
  log: CursorLog,
): Result<LogPosition, CursorError> {
  const cursor = decodeCursor(text, argument)
  if (!cursor.ok) return cursor
  const { logId, seq, branch } = cursor.value
  const isAhead = seq > log.seq
  if (logId !== log.logId || (isAhead && !log.mayLag)) {
    return err({ code: 'CURSOR_OF_ANOTHER_LOG', argument })
  }
  if (isAhead) return err({ code: 'CURSOR_AHEAD_OF_TIP', argument, tip: log.seq })
  return ok({ seq, branch })
}

/** The same position, given the branch that the log has there, or why the log does not continue it. */
export function confirmCursor(
  position: LogPosition,
  branch: Hex,
  argument: string,
  log: CursorLog,
): Result<LogPosition, CursorError> {
  if (position.branch !== branch) return err({ code: 'CURSOR_OF_ANOTHER_LOG', argument })
  if (position.seq < log.prunedSeq) return err(cursorExpired(argument, log))
  return ok(position)
}

/** Names the oldest position from which nothing is missing. */
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
/** A multiple of 3, so that base64 has neither padding nor spare bits: one text per cursor. */
const byteLength = 27
const form = /^[A-Za-z0-9_-]{36}$/

function digits(number: number, length: number): string {
  return number.toString(16).padStart(length, '0')
}

/** CRC-32 of IEEE 802.3: notices every change within 32 neighbouring bits. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 0xff] ?? 0)
  return (crc ^ 0xffffffff) >>> 0
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

// btoa and atob, because a browser has no Buffer.
function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
