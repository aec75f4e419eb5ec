import type { Hex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { LogPosition } from '../store/rows.ts'
import { noBranch } from '../store/values.ts'

/** A position in the log of ledger updates, as text that clients keep. Runs in a browser too. */

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
  const { text, crc } = headOf(logId)
  const high = Math.floor(seq / 2 ** 32)
  tail.setUint32(0, high)
  tail.setUint32(4, seq)
  tail.setUint16(8, Number(branch.slice(0, 6)))
  tail.setUint32(10, Number(`0x${branch.slice(6)}`))
  tail.setUint32(14, crcEnd(crcOver(crc, tailBytes, checkAt - seqAt)))
  let digit = 0
  for (let i = 0; i < tailBytes.length; i += 3) {
    const three =
      ((tailBytes[i] ?? 0) << 16) | ((tailBytes[i + 1] ?? 0) << 8) | (tailBytes[i + 2] ?? 0)
    for (let shift = 18; shift >= 0; shift -= 6) {
      tailDigits[digit++] = alphabet[(three >>> shift) & 0x3f] ?? 0
    }
  }
  // All digits at once: appending single digits takes twice as long, for each cursor of a page.
  return text + String.fromCharCode.apply(undefined, tailDigits)
}

/** The common part of all cursors of one log: the first 12 characters, and the CRC of their bytes. */
interface Head {
  readonly logId: Hex
  readonly text: string
  readonly crc: number
}

/** Cache of one entry: a process has one log at a time. */
let lastHead: Head | undefined

function headOf(logId: Hex): Head {
  if (lastHead?.logId === logId) return lastHead
  const bytes = new Uint8Array(seqAt)
  bytes[0] = version
  new DataView(bytes.buffer).setBigUint64(logIdAt, BigInt(logId))
  lastHead = { logId, text: toBase64Url(bytes), crc: crcOver(0xffffffff, bytes, seqAt) }
  return lastHead
}

/**
 * Decodes the text of a cursor; `argument` is the name of the text in the request. Returns `CURSOR_MALFORMED` for every text
 * that `encodeCursor` does not make: the CRC detects each change of one character.
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

function digits(number: number, length: number): string {
  return number.toString(16).padStart(length, '0')
}

/** CRC-32 of IEEE 802.3: detects every change within 32 neighbouring bits. */
function crc32(bytes: Uint8Array): number {
  return crcEnd(crcOver(0xffffffff, bytes, bytes.length))
}

/** Continues a CRC over the first `length` bytes. */
function crcOver(before: number, bytes: Uint8Array, length: number): number {
  let crc = before
  for (let i = 0; i < length; i++)
    crc = (crc >>> 8) ^ (crcTable[(crc ^ (bytes[i] ?? 0)) & 0xff] ?? 0)
  return crc
}

function crcEnd(crc: number): number {
  return (crc ^ 0xffffffff) >>> 0
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

/** Reused buffer for the bytes of a cursor after the log id. */
const tailBytes = new Uint8Array(byteLength - seqAt)
const tail = new DataView(tailBytes.buffer)

/** Reused buffer for the base64 digits of `tailBytes`, as character codes. */
const tailDigits: number[] = Array(24).fill(0)

/** The base64 digit of each 6-bit value, as a character code. */
const alphabet = Uint8Array.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  (digit) => digit.charCodeAt(0),
)

/** The 6-bit value of each base64 digit, by its character code. */
const bitsOfDigit = new Uint8Array(128)
alphabet.forEach((code, bits) => {
  bitsOfDigit[code] = bits
})

// Uses btoa, because a browser has no Buffer.
function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

/** Decodes a text that has the form of a cursor. `atob` with a function call for each byte takes three times as long. */
function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLength)
  const bitsAt = (place: number) => bitsOfDigit[text.charCodeAt(place)] ?? 0
  for (let i = 0, at = 0; i < text.length; i += 4) {
    const four = (bitsAt(i) << 18) | (bitsAt(i + 1) << 12) | (bitsAt(i + 2) << 6) | bitsAt(i + 3)
    bytes[at++] = four >>> 16
    bytes[at++] = four >>> 8
    bytes[at++] = four
  }
  return bytes
}
