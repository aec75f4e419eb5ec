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

/** The pages that the benchmark requests from every server: the newest updates of an address, or those after a row. */

/** A requested page. */
export interface Question {
  /** The address in Bech32. */
  readonly address: string
  readonly addressBytes: Buffer
  readonly first: number
  /** The row before the page, and the first row of it; `undefined` for the newest page. */
  readonly after: LedgerRow | undefined
  readonly begin: LedgerRow | undefined
}

/** The ways to choose pages. */
export const choices = {
  /** A random address and position: two pages are rarely equal. */
  random: (ledger: LargeLedger, first: number) => pageAt(ledger, first, rowsOfAddress),
  /** The newest page of a random address. */
  newest: (ledger: LargeLedger, first: number) => newest(randomBelow(ledger.addresses), first),
  /** Always the same page. */
  hot: (_ledger: LargeLedger, first: number) => newest(7, first),
  /** A random address and position among the rows that have outputs. */
  linked: (ledger: LargeLedger, first: number) => pageAt(ledger, first, linkedRowsOfAddress),
} as const

/** A way to choose. */
export type Choice = keyof typeof choices

/** The gateway's cursor of a row. */
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

/** Caches the forms of an address, so that the client uses little processor time. */
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
