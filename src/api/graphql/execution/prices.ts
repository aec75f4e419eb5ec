import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { maxBlockSize } from '../../../protocol/block.ts'
import { maxPerTransaction } from '../../../protocol/primitives.ts'
import { defaultListSize } from '../../../service/lists/keyset-page.ts'
import { defaultPageSize, maxPageSize } from '../../../service/updates/list-ledger-updates.ts'

/**
 * Prices of fields; `cost.ts` sums them up. A unit is the work of reading one row by its key, about 10 µs of a core, or 1 KiB of response.
 * A field declares its price with the option `complexity`. The price excludes the cost of writing the field.
 */

/** The price of a field, and the number of times that the price of its selection is added. */
export interface Price {
  readonly field: number
  readonly multiplier: number
  /** Part of `field` that is counted whenever the field is resolved. Rows and bytes are counted when they are read and written. */
  readonly work?: number
}

/** Price of a field that reads nothing: its parent object has the value. */
export const free: Price = { field: 0, multiplier: 1 }

/** Returns the price of rows that are read by their keys. */
export function reads(rows: number): Price {
  return { field: rows * rowCost, multiplier: 1 }
}

/** Returns the price of processor work that is the same each time, in units. */
export function computes(units: number): Price {
  return { field: units, multiplier: 1, work: units }
}

/** Returns the price of work that is counted while it is done. `units` is its maximum. */
function computesUpTo(units: number): Price {
  return { field: units, multiplier: 1 }
}

/** Returns the price of a long text of a typical length in bytes. Its actual bytes are counted when it is written. */
function bytes(length: number): Price {
  return { field: length / bytesOfUnit, multiplier: 1 }
}

/** Returns the price of items that are read one by one. */
export function itemsCost(items: number): Price {
  return { field: items * rowCost, multiplier: items }
}

/** Returns the price of a page, or of a field that contains a page: the price of the requested number of items. */
export function pageCost({ first, last }: PageArgs): Price {
  const size = Math.min(first ?? last ?? defaultPageSize, last ?? maxPageSize, maxPageSize)
  return itemsCost(Math.max(1, size))
}

/** Returns the price of a page with a default size of 20 items. */
export function listCost(args: PageArgs): Price {
  return pageCost(args.first == null && args.last == null ? { first: defaultListSize } : args)
}

/** Returns the price of a page of transactions: a block is read and decoded for each of them. */
export function transactionsCost(args: PageArgs): Price {
  const { field, multiplier } = listCost(args)
  return { field: 5 * field, multiplier }
}

interface PageArgs {
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
}

/** Maximum cost of an operation, in units: one second of a core. */
export const maxOperationCost = 100_000
export const rowCost = 1
/** Price of an account or another chain by its id. */
export const chainCost = reads(3)
/** Work of a page, in addition to its rows: other pages of the response may have read them. Measured: 20 µs. */
export const pageWork = 1
/** Cost of a statement, in addition to its rows. Fields do not declare it: a response needs few statements. */
export const statementCost = 2
/** Cost of a row that is scanned and filtered out. Measured: 5,000 rows in memory take 1.5 to 2 ms. */
export const scanCost = 1 / 30
/** Cost of a field of serialized bytes with its offset. Measured: 0.4 µs in a short block, 4 µs in a block with many outputs. */
export const placedFieldCost = 0.4
/** Bytes of a response per unit. */
export const bytesOfUnit = 1_024
/** Cost of reading, looking up and answering an operation, before its first field. */
export const operationCostBase = 20
/** Cost of every field of a response, including `__typename`: its name, a short value, and the calls that produce it. */
export const writtenCost = 1 / 16
/** Part of `writtenCost` that is not text. */
export const fieldWork = 1 / 32

/** Cost of an error in a response: creating it, locating it in the document, and copying it in the server. */
export const errorCost = 20
/** Cost of parsing and validating a document, in addition to its characters. */
export const documentCost = 50
/** Characters of a parsed and validated document per unit. */
export const charactersOfUnit = 15

/** Cost of an introspection field in the executor. */
export const introspectionCost = 1 / 16

/** Price of the outputs that a transaction spends or creates. */
export const outputsCost = itemsCost(maxPerTransaction)

/**
 * Returns the price of decoding and hashing a block or transaction in an argument and checking its signatures, at most as many as fit into
 * its text. A signature that the fast check refuses is checked again at more than ten times the price, which is counted at that time.
 */
export function judgementCost({ input: { bytes: text, json } }: JudgedArgs): Price {
  const signatures = text ? text.length / hexOfSignature : signaturesIn(json)
  return computesUpTo(
    judgementBase + Math.ceil(Math.min(signatures, maxSignatures)) * signatureCost,
  )
}

interface JudgedArgs {
  readonly input: { readonly bytes?: string | null | undefined; readonly json?: unknown }
}

/** Returns the number of signatures that fit into a JSON value. A value is serialized once, even if several fields use it. */
function signaturesIn(json: unknown): number {
  if (typeof json !== 'object' || json === null) return maxSignatures
  return getOrInsert(signaturesByJson, json, () => lengthOf(json) / jsonOfSignature)
}

/** Returns the number of characters of a JSON value; infinity if it is nested too deeply to count them. */
export function lengthOf(json: object): number {
  try {
    return JSON.stringify(json).length
  } catch {
    // The value is nested too deeply for the stack. The number of signatures is limited anyway.
    return Number.POSITIVE_INFINITY
  }
}

const signaturesByJson = new WeakMap<object, number>()

/** Cost of a signature that the fast check accepts. */
export const signatureCost = 20
/** Additional cost of checking a signature again with the second implementation. */
export const doubtfulSignatureCost = 250
/** Cost of decoding and hashing a block or transaction. */
export const judgementBase = 50
/** Cost of submitting a block, with ten signatures; most blocks have fewer. */
export const submissionCost = judgementBase + 10 * signatureCost
/** Cost of setting a chain record: it is written in a transaction of its own, and its event is sent. */
export const chainRecordCost = 400
/** Cost of a faucet request: a transaction is created, signed, judged and booked. */
export const faucetCost = 1_000
/** Characters of the shortest signature with its key and type codes: 97 bytes in hexadecimal digits, and in JSON. */
const hexOfSignature = 2 * 97
const jsonOfSignature = 230
/** Number of signatures that fit into the largest block. */
const maxSignatures = Math.floor(maxBlockSize / 97)

/** Price of judging the transaction of the parent object, with as many signatures as fit into a block. */
export const judgementOfParent = computesUpTo(judgementBase + maxSignatures * signatureCost)

/** Prices of expensive fields. */
export const fieldCost = {
  /** Bytes of an output, or another text that is typically some hundred bytes long. */
  bytes: bytes(512),
  /** A serialized block as text. */
  blockBytes: bytes(65_538),
  /** Up to 1,000 texts of 256 characters, typically a few. */
  accessNodes: bytes(10_240),
  /** Decoding a block or a transaction. */
  block: { ...computes(1), field: 20 },
  /** Reading a block a second time. A block typically has fewer than 200 fields. */
  blockFields: { ...computes(2), field: 20, multiplier: 200 },
  /** Reading an output or an address again. It typically has fewer than 40 fields. */
  outputFields: { ...computes(1), multiplier: 40 },
  /** Judging a transaction again, with ten signatures when it failed, and reading the objects that it refers to. */
  examination: computesUpTo(submissionCost),
  /** Decoding and hashing a transaction with all its outputs, for one of them or for all. */
  proof: computes(50),
  /** Reading and sorting all accounts that stake. */
  validators: computes(50),
  /** Counting some thousand blocks or transactions of a slot in an index. */
  count: computesUpTo(20),
  /** Reading and decoding up to 10,000 outputs. */
  mana: computesUpTo(5_000),
  /** An introspection field. All of them are resolved in one turn of the event loop, while everything else waits. */
  introspection: computes(3),
} as const
