import { parseMoment } from '../../lib/calendar.ts'
import { bytesToHex, type Hex, hexToBytes, isHex } from '../../lib/hex.ts'
import { inWords } from '../../lib/in-words.ts'
import {
  AccountAddress,
  Address,
  Ed25519Address,
  ImplicitAccountCreationAddress,
} from '../../protocol/addresses.ts'
import { isMultiReference } from '../../protocol/bech32.ts'
import { addressKey, addressKeyPrefix, publicKeyHash } from '../../protocol/ids.ts'
import type {
  BlockId,
  CommitmentId,
  FoundryId,
  OutputId,
  TransactionId,
} from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import { maxSlot } from '../../protocol/slots.ts'
import { addressKey as addressKeyOfText } from '../addresses/address-key.ts'
import { parseChainId } from '../chain-records/chain-id.ts'

/** Possible meanings of a search text, judged by its form alone. */

/** One meaning of a text; `by` is the kind of the text. */
export type Meaning =
  | { readonly by: 'BLOCK_ID'; readonly id: BlockId }
  | { readonly by: 'TRANSACTION_ID'; readonly id: TransactionId }
  | { readonly by: 'COMMITMENT_ID'; readonly id: CommitmentId }
  | { readonly by: 'OUTPUT_ID'; readonly id: OutputId }
  /** Id of an account, anchor, NFT, delegation or foundry. */
  | { readonly by: 'CHAIN_ID'; readonly id: Hex | FoundryId }
  | { readonly by: 'BECH32'; readonly key: Hex; readonly hrp: string }
  /** Bech32 address of any network, in lower case. */
  | { readonly by: 'CHAIN_RECORD'; readonly chainId: string }
  | {
      readonly by: 'ADDRESS_BYTES' | 'PUBLIC_KEY_HASH' | 'PUBLIC_KEY'
      /** Address keys, as in the log. */
      readonly keys: readonly Hex[]
    }
  | { readonly by: 'MILESTONE_INDEX'; readonly index: number }
  /** Unix time in nanoseconds. */
  | { readonly by: 'TIME'; readonly nanoseconds: bigint }
  /** The first and the last id that begin with the digits. */
  | { readonly by: 'ID_BEGINNING'; readonly from: Hex; readonly to: Hex }
  | { readonly by: 'TAG'; readonly tag: Hex }

/** Why a text is not valid as the kind that it resembles. */
export interface Misspelling {
  readonly reason: 'MALFORMED' | 'TOO_SHORT'
  readonly sentence: string
}

/** The meanings of a text, the most specific first. Any text of up to 64 bytes may be a tag. */
export interface Meanings {
  readonly meanings: readonly Meaning[]
  readonly misspelling: Misspelling | undefined
}

/** Maximum characters of a search text; long enough for any Bech32 address. */
export const maxSearchLength = 1_000

/** Minimum number of digits of an id prefix: among millions of ids, two with the same eight digits are rare. */
const minDigits = 8

/** Returns the meanings of a text. Leading and trailing white space is ignored. */
export function meaningsOf(given: string): Meanings {
  const text = given.trim()
  if (text === '') return nothing('the text is empty')
  if (text.length > maxSearchLength) {
    return nothing(`the text is longer than ${maxSearchLength} characters`)
  }
  const digits = /^(?:0x)?([0-9a-f]+)$/i.exec(text)?.[1]?.toLowerCase()
  if (digits !== undefined) return meaningsOfDigits(text, digits)
  if (datePattern.test(text)) return meaningsOfDate(text)
  if (bech32Pattern.test(text)) return meaningsOfBech32(text)
  return { meanings: tagOf(text), misspelling: undefined }
}

function nothing(sentence: string): Meanings {
  return { meanings: [], misspelling: { reason: 'MALFORMED', sentence } }
}

/** Meanings of hexadecimal digits, which may also be a decimal number. */
function meaningsOfDigits(text: string, digits: string): Meanings {
  const hex: Hex = `0x${digits}`
  const isShort = digits.length < minDigits
  return {
    meanings: [
      ...meaningsOfId(hex),
      ...(/^[0-9]+$/.test(text) ? meaningsOfNumber(text) : []),
      ...(isShort || !mayBegin(digits) ? [] : [beginning(digits)]),
      ...(isHex(hex) && digits.length <= 2 * longestTag ? [{ by: 'TAG', tag: hex } as const] : []),
      ...(text.startsWith('0x') ? [] : tagOf(text)),
    ],
    misspelling: isShort ? tooShort : undefined,
  }
}

function meaningsOfId(hex: Hex): Meaning[] {
  const ofLength = meaningsByBytes.get((hex.length - 2) / 2)
  if (ofLength !== undefined) return ofLength(hex)
  return isHex(hex) ? meaningsOfAddressBytes(hex) : []
}

const meaningsByBytes = new Map<number, (hex: Hex) => Meaning[]>([
  [
    32,
    (hex) => [
      { by: 'CHAIN_ID', id: hex },
      { by: 'PUBLIC_KEY_HASH', keys: keysOfHash(hex) },
      { by: 'PUBLIC_KEY', keys: keysOfHash(publicKeyHash(hex)) },
    ],
  ],
  [
    36,
    (hex) => [
      { by: 'BLOCK_ID', id: hex as BlockId },
      { by: 'TRANSACTION_ID', id: hex as TransactionId },
      { by: 'COMMITMENT_ID', id: hex as CommitmentId },
    ],
  ],
  [
    38,
    (hex) => [
      { by: 'OUTPUT_ID', id: hex as OutputId },
      { by: 'CHAIN_ID', id: hex as FoundryId },
    ],
  ],
])

const tooShort: Misspelling = {
  reason: 'TOO_SHORT',
  sentence: `a search by the beginning of an id needs at least ${minDigits} digits`,
}

/**
 * Whether digits may be the beginning of an id. Full ids are looked up directly, and 64 digits may be an id without its slot. 72 digits are
 * the id of a block, a transaction or a commitment; only those of a foundry's account may also be the beginning of a longer id.
 */
function mayBegin(digits: string): boolean {
  const isFull = digits.length === digitsOfBlockId && !digits.startsWith(accountKind)
  return digits.length < longestId && !isFull
}

/** Hexadecimal digits of the longest ids, those of outputs and foundries. */
const longestId = 76

/** Hexadecimal digits of the ids of blocks, transactions and commitments. */
const digitsOfBlockId = 72

/** First digits of the id of a foundry: the kind of the address of its account. */
const accountKind = addressKeyPrefix(AccountAddress).slice(2)

/** Maximum bytes of a tag. */
const longestTag = 64

/** The Ed25519 address and the implicit account creation address of a hash. */
function keysOfHash(hash: Hex): readonly Hex[] {
  const kinds = [Ed25519Address, ImplicitAccountCreationAddress]
  return kinds.map((kind): Hex => `${addressKeyPrefix(kind)}${hash.slice(2)}`)
}

function meaningsOfAddressBytes(hex: Hex): Meaning[] {
  const bytes = hexToBytes(hex)
  if (isMultiReference(bytes)) return [{ by: 'ADDRESS_BYTES', keys: [hex] }]
  const address = decode(Address, bytes)
  return address.ok ? [{ by: 'ADDRESS_BYTES', keys: [addressKey(address.value)] }] : []
}

/** Meanings of a number: a milestone, or a Unix time in seconds, milliseconds, microseconds or nanoseconds of this millennium. */
function meaningsOfNumber(text: string): Meaning[] {
  const number = BigInt(text)
  const unit = nanosecondsByDigits.get(text.length)
  return [
    ...(unit === undefined ? [] : [{ by: 'TIME', nanoseconds: number * unit } as const]),
    ...(number <= maxSlot ? [{ by: 'MILESTONE_INDEX', index: Number(number) } as const] : []),
  ]
}

const nanosecondsByDigits: ReadonlyMap<number, bigint> = new Map([
  [10, 1_000_000_000n],
  [13, 1_000_000n],
  [16, 1_000n],
  [19, 1n],
])

function beginning(digits: string): Meaning {
  const from: Hex = `0x${digits.length % 2 === 0 ? digits : `${digits}0`}`
  return { by: 'ID_BEGINNING', from, to: `0x${digits.padEnd(longestId, 'f')}` }
}

/** ISO 8601: a date, or a date with a time, which is UTC unless it has a zone. */
const datePattern =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i

function meaningsOfDate(text: string): Meanings {
  const milliseconds = parseMoment(inFull(text))
  if (Number.isNaN(milliseconds)) {
    const sentence = 'the date or time does not exist'
    return { meanings: tagOf(text), misspelling: { reason: 'MALFORMED', sentence } }
  }
  const time = { by: 'TIME', nanoseconds: BigInt(milliseconds) * 1_000_000n } as const
  return { meanings: [time, ...tagOf(text)], misspelling: undefined }
}

/** A date unchanged, or a time in the form of RFC 3339. */
function inFull(text: string): string {
  const [, day = '', time, seconds = ':00', zone = 'Z'] = datePattern.exec(text) ?? []
  if (time === undefined) return day
  return `${day}T${time}${seconds}${zone.toUpperCase().replace(/(\d\d):?(\d\d)$/, '$1:$2')}`
}

/** A human-readable part, the separator, and at least as many characters as the shortest address; characters may be mistyped. */
const bech32Pattern = /^[a-z][a-z0-9-]{0,82}1[a-z0-9]{38,}$/i

function meaningsOfBech32(text: string): Meanings {
  const address = addressKeyOfText(text, 'text')
  if (!address.ok) {
    const sentence = `the text is not a valid Bech32 address: ${inWords(address.error.reason)}`
    return { meanings: tagOf(text), misspelling: { reason: 'MALFORMED', sentence } }
  }
  const { key, hrp } = address.value
  const chainId = parseChainId(text, 'text')
  const record = chainId.ok ? [{ by: 'CHAIN_RECORD', chainId: chainId.value } as const] : []
  return { meanings: [{ by: 'BECH32', key, hrp }, ...record], misspelling: undefined }
}

function tagOf(text: string): Meaning[] {
  const bytes = Buffer.from(text)
  return bytes.length <= longestTag ? [{ by: 'TAG', tag: bytesToHex(bytes) }] : []
}
