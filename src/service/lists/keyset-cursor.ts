import type { CursorError } from '../../feed/cursor.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { maxAddressLength } from '../../protocol/addresses.ts'
import type { Position } from '../../store/contract/list.ts'

/** Cursors of lists: sort positions as opaque text. A cursor is valid whether or not a row has its position. */

/** The content of the cursors of a list. */
export interface CursorForm {
  /** Name of the list: the cursor of one list is not valid for another. */
  readonly list: string
  /** Types of the values: integers below 2^53 (NUMBER) or 2^63 (AMOUNT), addresses, or a fixed number of bytes. */
  readonly values: readonly ('NUMBER' | 'AMOUNT' | 'ADDRESS' | number)[]
}

/** Converts positions of a list to cursors and back. */
export interface Cursors {
  encode(position: Position): string
  /** `argument` is the name of the text in the request. */
  decode(text: string, argument: string): Result<Position, CursorError>
}

/** Creates the cursors of a list. */
export function keysetCursors(form: CursorForm): Cursors {
  return {
    encode: (position) => encodeCursor(form, position),
    decode: (text, argument) => {
      const position = decodeCursor(form, text)
      return position === undefined ? err({ code: 'CURSOR_MALFORMED', argument }) : ok(position)
    },
  }
}

function encodeCursor({ list }: CursorForm, position: Position): string {
  return Buffer.from(`${list}.${position.join('.')}`, 'latin1').toString('base64url')
}

/** The position of a cursor; `undefined` for every text that `encodeCursor` does not make for this list. */
function decodeCursor(form: CursorForm, cursor: string): Position | undefined {
  // A page of a thousand objects decodes the same argument a thousand times.
  if (cursor.length > maxCursorLength) return undefined
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const start = `${form.list}.`
  const parts = text.slice(start.length).split('.')
  if (!text.startsWith(start) || parts.length !== form.values.length) return undefined
  const position: Position[number][] = []
  for (const [i, kind] of form.values.entries()) {
    const value = readValue(kind, parts[i] ?? '')
    if (value === undefined) return undefined
    position.push(value)
  }
  return encodeCursor(form, position) === cursor ? position : undefined
}

function readValue(kind: CursorForm['values'][number], text: string): Position[number] | undefined {
  if (typeof kind === 'number') {
    return text.length === 2 + 2 * kind && /^0x[0-9a-f]*$/.test(text) ? (text as Hex) : undefined
  }
  // The bytes begin with the address type, on which their number depends.
  if (kind === 'ADDRESS') return addressPattern.test(text) ? (text as Hex) : undefined
  if (!/^-?[0-9]{1,19}$/.test(text)) return undefined
  const number = BigInt(text)
  if (kind === 'AMOUNT') return BigInt.asIntN(64, number) === number ? number : undefined
  return Number.isSafeInteger(Number(text)) ? Number(text) : undefined
}

/** Maximum characters of a cursor: more than those of the longest, which has an address. */
const maxCursorLength = 2_048

const addressPattern = new RegExp(`^0x([0-9a-f]{2}){1,${maxAddressLength}}$`)
