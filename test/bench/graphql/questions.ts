import { encodeCursor } from '../../../src/feed/cursor.ts'
import { hexToBytes } from '../../../src/lib/hex.ts'
import { encodeBech32 } from '../../../src/protocol/bech32.ts'
import { addressOf } from '../large-log.ts'
import {
  type LargeLedger,
  type LedgerRow,
  linkedRowsOfAddress,
  rowOf,
  rowsOfAddress,
} from './data.ts'

/** What is asked of every server: pages of the newest updates of an address, or of those after a row. */

/** A page. */
export interface Question {
  /** Bech32. */
  readonly address: string
  readonly addressBytes: Buffer
  readonly first: number
  /** The row before the page, and the first row of it; `undefined` for the newest page. */
  readonly after: LedgerRow | undefined
  readonly begin: LedgerRow | undefined
}

/** How the pages are chosen. */
export const choices = {
  /** A random address and place: two pages are hardly ever the same. */
  random: (ledger: LargeLedger, first: number) => pageAt(ledger, first, rowsOfAddress),
  /** The newest page of a random address. */
  newest: (ledger: LargeLedger, first: number) => newest(randomBelow(ledger.addresses), first),
  /** One page again and again. */
  hot: (_ledger: LargeLedger, first: number) => newest(7, first),
  /** A random address and place among the rows whose outputs are there. */
  linked: (ledger: LargeLedger, first: number) => pageAt(ledger, first, linkedRowsOfAddress),
} as const

/** A way to choose. */
export type Choice = keyof typeof choices

/** The position of a row in our form. */
export function cursorOf({ logId, branches }: LargeLedger, { seq, slot }: LedgerRow): string {
  return encodeCursor({ logId, seq, branch: branches[slot] ?? '0x' })
}

/** A full page after one of the newest rows of an address. */
function pageAt(ledger: LargeLedger, first: number, newestRows: number): Question {
  const address = randomBelow(ledger.addresses)
  const n = rowsOfAddress - 1 - randomBelow(newestRows - first)
  const after = rowOf(ledger, n, address)
  return { ...newest(address, first), after, begin: rowOf(ledger, n - 1, address) }
}

function newest(address: number, first: number): Question {
  return { ...formsOf(address), first, after: undefined, begin: undefined }
}

const known = new Map<number, Pick<Question, 'address' | 'addressBytes'>>()

/** Kept: the client is to cost little. */
function formsOf(n: number) {
  const kept = known.get(n)
  if (kept !== undefined) return kept
  const addressBytes = Buffer.from(hexToBytes(addressOf(n)))
  const forms = { address: encodeBech32('tst', addressBytes), addressBytes }
  known.set(n, forms)
  return forms
}

function randomBelow(end: number): number {
  return Math.floor(Math.random() * end)
}
