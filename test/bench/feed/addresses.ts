import { type Hex, hexToBytes } from '../../../src/lib/hex.ts'
import { encodeBech32 } from '../../../src/protocol/bech32.ts'

/** The addresses of the feed benchmark, by number. */

/** The bytes of an address. */
export function benchKey(number: number): Hex {
  return `0x00${number.toString(16).padStart(64, '0')}`
}

/** The text of an address. */
export function benchAddress(number: number): string {
  return encodeBech32('tst', hexToBytes(benchKey(number)))
}
