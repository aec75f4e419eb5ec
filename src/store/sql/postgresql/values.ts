import { bytesToHex, type Hex } from '../../../lib/hex.ts'

/** Values as they stand in the JSON parameter of a statement on PostgreSQL, which reads bytes from `\x` and digits. */

/** Bytes that are text in memory. */
export function bytea(hex: Hex): string {
  return `\\x${hex.slice(2)}`
}

/** Bytes that are bytes in memory. */
export function byteaOf(bytes: Uint8Array): string {
  return bytea(bytesToHex(bytes))
}

/** Ids, to be read as rows of one column `id`. */
export function idsJson(ids: readonly Hex[]): string {
  return JSON.stringify(ids.map((id) => ({ id: bytea(id) })))
}
