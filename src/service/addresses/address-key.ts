import { LRUCache } from 'lru-cache'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { Address, MultiAddress } from '../../protocol/addresses.ts'
import {
  type Bech32Error,
  decodeBech32,
  decodeBech32m,
  isMultiReference,
} from '../../protocol/bech32.ts'
import { blake2b256 } from '../../protocol/hash.ts'
import { is } from '../../protocol/is.ts'
import type { Refusal } from '../../protocol/schema/refusal.ts'
import { decode } from '../../protocol/schema/schema.ts'

/** Parses the text of an address to the key under which the log stores its updates. */

export interface AddressKey {
  /** The human-readable part of the text, in lower case. */
  readonly hrp: string
  /** The serialized address; for a multi address, the 33 bytes of its reference. */
  readonly key: Hex
}

/** Why a text is not an address of this network; `argument` is the name of the text in the request. */
export type AddressError = AddressMalformed | AddressOfAnotherNetwork

/** A text that is not Bech32, or whose bytes are not an address. */
export interface AddressMalformed {
  readonly code: 'ADDRESS_MALFORMED'
  readonly argument: string
  readonly reason: Bech32Error['code'] | Refusal['code']
}

/** An address with the human-readable part of another network. */
export interface AddressOfAnotherNetwork {
  readonly code: 'ADDRESS_OF_ANOTHER_NETWORK'
  readonly argument: string
  readonly hrp: string
  readonly expected: string
}

/** Cache of parsed texts. A client that follows or pages through an address sends its text again each time. */
const keys = new LRUCache<string, AddressKey>({ max: 4_096 })

/** Length of the longest text that is cached. Only restricted addresses are longer. */
const maxCachedLength = 128

/** The key of an address with any human-readable part. */
export function addressKey(text: string, argument: string): Result<AddressKey, AddressMalformed> {
  const known = keys.get(text)
  if (known !== undefined) return ok(known)
  const parsed = parse(text)
  if (!parsed.ok) return err({ code: 'ADDRESS_MALFORMED', argument, reason: parsed.error.code })
  if (text.length <= maxCachedLength) keys.set(text, parsed.value)
  return parsed
}

/** The key of an address in Bech32 or Bech32m, with any human-readable part. */
export function addressKeyOfEither(
  text: string,
  argument: string,
): Result<AddressKey, AddressMalformed> {
  const key = addressKey(text, argument)
  if (key.ok || key.error.reason !== 'BECH32_CHECKSUM_WRONG') return key
  const parsed = parse(text, decodeBech32m)
  return parsed.ok ? parsed : key
}

function parse(text: string, decodeText = decodeBech32): Result<AddressKey, Bech32Error | Refusal> {
  const decoded = decodeText(text)
  if (!decoded.ok) return decoded
  const { hrp, bytes } = decoded.value
  if (isMultiReference(bytes)) return ok({ hrp, key: bytesToHex(bytes) })
  const address = decode(Address, bytes)
  if (!address.ok) return address
  return ok({ hrp, key: bytesToHex(is(MultiAddress, address.value) ? referenceOf(bytes) : bytes) })
}

/** The key of an address of the network whose human-readable part is `expected`. */
export function addressKeyOf(
  expected: string,
  text: string,
  argument: string,
): Result<Hex, AddressError> {
  const parsed = addressKey(text, argument)
  if (!parsed.ok) return parsed
  const { hrp, key } = parsed.value
  if (hrp !== expected) return err({ code: 'ADDRESS_OF_ANOTHER_NETWORK', argument, hrp, expected })
  return ok(key)
}

/** The reference of a multi address. The SDK writes only the reference; the full serialization denotes the same address. */
function referenceOf(bytes: Uint8Array): Uint8Array {
  return Uint8Array.of(MultiAddress.code, ...blake2b256(bytes))
}
