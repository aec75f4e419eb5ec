import { bech32, bech32m } from 'bech32'
import { err, ok, type Result } from '../lib/result.ts'

/** Converts bytes of an address to Bech32 text and back (BIP-173 bech32; codec reference 9.1). */

/** The content of a Bech32 text. The bytes are not checked to be an address. */
export interface Bech32Text {
  /** The human-readable part, in lower case. */
  readonly hrp: string
  readonly bytes: Uint8Array
}

/** Why a text is not Bech32. */
export type Bech32Error =
  | { readonly code: 'BECH32_TOO_LONG'; readonly length: number; readonly limit: number }
  | { readonly code: 'BECH32_CASE_MIXED' }
  | { readonly code: 'BECH32_SEPARATOR_MISSING' }
  | { readonly code: 'BECH32_CHARACTER_UNKNOWN'; readonly character: string; readonly at: number }
  | { readonly code: 'BECH32_CHECKSUM_WRONG' }
  | { readonly code: 'BECH32_PADDING_WRONG' }

// BIP-173 has a limit of 90, but a restricted address around a multi address of ten members needs about 570 characters.
const lengthLimit = 1000

/** Decodes a text, which must be all in lower case or all in upper case. Any human-readable part is accepted. */
export function decodeBech32(text: string): Result<Bech32Text, Bech32Error> {
  return decodeWith(bech32, text)
}

/** Decodes a text with the checksum of Bech32m (BIP-350), which the protocol does not use. */
export function decodeBech32m(text: string): Result<Bech32Text, Bech32Error> {
  return decodeWith(bech32m, text)
}

function decodeWith(coding: typeof bech32, text: string): Result<Bech32Text, Bech32Error> {
  const fault = faultOfForm(text)
  if (fault !== undefined) return err(fault)
  const decoded = coding.decodeUnsafe(text, lengthLimit)
  if (decoded === undefined) return err({ code: 'BECH32_CHECKSUM_WRONG' })
  const bytes = coding.fromWordsUnsafe(decoded.words)
  if (bytes === undefined) return err({ code: 'BECH32_PADDING_WRONG' })
  return ok({ hrp: decoded.prefix, bytes: Uint8Array.from(bytes) })
}

/** Encodes bytes with a human-readable part, in lower case. For a multi address, the caller passes its reference. */
export function encodeBech32(hrp: string, bytes: Uint8Array): string {
  return bech32.encode(hrp, bech32.toWords(bytes), lengthLimit)
}

/**
 * Whether bytes are the reference of a multi address: its type, then the hash of its serialization. The hash cannot be
 * reversed. The serialization itself never has 33 bytes.
 */
export function isMultiReference(bytes: Uint8Array): boolean {
  return bytes.length === 33 && bytes[0] === 40
}

/** The first error of form that is found without the checksum. */
function faultOfForm(text: string): Bech32Error | undefined {
  if (text.length > lengthLimit) {
    return { code: 'BECH32_TOO_LONG', length: text.length, limit: lengthLimit }
  }
  const unknownInPrefix = text.search(/[^\x21-\x7e]/)
  if (unknownInPrefix !== -1) return unknownCharacter(text, unknownInPrefix)
  if (text !== text.toLowerCase() && text !== text.toUpperCase())
    return { code: 'BECH32_CASE_MIXED' }
  const separator = text.lastIndexOf('1')
  if (separator < 1) return { code: 'BECH32_SEPARATOR_MISSING' }
  const unknown = text.slice(separator + 1).search(/[^qpzry9x8gf2tvdw0s3jn54khce6mua7l]/i)
  if (unknown !== -1) return unknownCharacter(text, separator + 1 + unknown)
  return undefined
}

function unknownCharacter(text: string, at: number): Bech32Error {
  return { code: 'BECH32_CHARACTER_UNKNOWN', character: text.charAt(at), at }
}
