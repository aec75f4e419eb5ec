import { encodeBech32 } from '../../src/protocol/bech32.ts'

/** The Bech32 text of an address of a kind, whose bytes all have the value `fill`. */
export function addressText(kind: number, fill: number, { hrp = 'tst', length = 32 } = {}): string {
  return encodeBech32(hrp, Uint8Array.of(kind, ...new Uint8Array(length).fill(fill)))
}

/** The chain id of an account, different for each number from 0 to 255. */
export function chainIdOf(fill: number): string {
  return addressText(8, fill)
}
