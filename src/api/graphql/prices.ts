import { defaultListSize } from '../../service/lists/keyset-page.ts'
import { defaultPageSize, maximumPageSize } from '../../service/updates/list-ledger-updates.ts'

/**
 * What fields cost; `cost.ts` sums them up. A unit is the work of reading one row by its key, some 10 µs of a core, or 1 KiB of answer.
 * A field says with the option `complexity` in one of these forms what it takes beside being written.
 */

/** The price of a field, and how often it holds what is selected below it. */
export interface Price {
  readonly field: number
  readonly multiplier: number
  /** Of `field`, what is counted whenever the field is resolved; rows and bytes are counted when they come. */
  readonly work?: number
}

/** Nothing is read: the value is in what has the field. */
export const free: Price = { field: 0, multiplier: 1 }

/** Rows by their keys. */
export function reads(rows: number): Price {
  return { field: rows * rowCost, multiplier: 1 }
}

/** Work of the processor, in units; the same each time. */
export function computes(units: number): Price {
  return { field: units, multiplier: 1, work: units }
}

/** Work that is counted while it is done: as many units at most. */
export function computesUpTo(units: number): Price {
  return { field: units, multiplier: 1 }
}

/** A text that may be long, by the bytes that it mostly has; what it really has is counted when it comes. */
export function bytes(length: number): Price {
  return { field: length / bytesOfUnit, multiplier: 1 }
}

/** Items that are read, each by itself. */
export function itemsCost(items: number): Price {
  return { field: items * rowCost, multiplier: items }
}

/** A page, or a field that holds one, counts as many items as are asked for. */
export function pageCost({ first, last }: PageArgs): Price {
  const asked = Math.min(first ?? last ?? defaultPageSize, last ?? maximumPageSize, maximumPageSize)
  return itemsCost(Math.max(1, asked))
}

/** The same of lists whose page has 20 items where none are asked for. */
export function listCost(args: PageArgs): Price {
  return pageCost(args.first == null && args.last == null ? { first: defaultListSize } : args)
}

/** Blocks are read and decoded for each transaction. */
export function transactionsCost(args: PageArgs): Price {
  const { field, multiplier } = listCost(args)
  return { field: 5 * field, multiplier }
}

interface PageArgs {
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
}

/** What an operation may cost: a second of a core. */
export const maxOperationCost = 100_000
/** What a row costs that is read. */
export const rowCost = 1
/** What a statement costs beside its rows; an answer has few of them, and no field says how many. */
export const statementCost = 2
/** What a row costs that is looked at and left out. Measured: 5,000 of them take 1.5 to 2 ms where they are in memory. */
export const walkCost = 1 / 30
/** What a field costs that is found in bytes with its place. Measured: 0.4 µs in a short block, 4 in one of many outputs. */
export const placedFieldCost = 0.4
/** How many bytes of an answer cost a unit. */
export const bytesOfUnit = 1_024
/** What an operation costs before its first field: it is read, looked up and answered. */
export const operationCostBase = 20
/** What every field of an answer costs, also `__typename`: its name, a short value, and the calls that make it. */
export const writtenCost = 1 / 16
/** Of that, what is no text. */
export const fieldWork = 1 / 32

/** What an error of an answer costs: made, given its place, and copied by the server. */
export const errorCost = 20
/** What a document costs that is parsed and validated, beside its characters. */
export const documentCost = 50
/** Characters of a document that are parsed and validated for one unit. */
export const charactersOfUnit = 15

/** What the executor takes for a field of introspection. */
export const introspectionCost = 1 / 16

/** The outputs that a transaction spends or creates: at most 128 of each. */
export const outputsCost = itemsCost(128)

/**
 * A block or transaction in an argument is decoded and hashed, and its signatures are checked: as many as its text has place for.
 * One that OpenSSL refuses is checked again at ten times the price, which is counted when it comes.
 */
export function judgementCost({ input: { bytes: text, json } }: JudgedArgs): Price {
  const signatures = text ? text.length / hexOfSignature : placesIn(json)
  return computesUpTo(
    judgementBase + Math.ceil(Math.min(signatures, mostSignatures)) * signatureCost,
  )
}

interface JudgedArgs {
  readonly input: { readonly bytes?: string | null | undefined; readonly json?: unknown }
}

/** Of a value that stands in several places of a document the text is made once. */
function placesIn(json: unknown): number {
  if (typeof json !== 'object' || json === null) return mostSignatures
  const known = placesByJson.get(json)
  if (known !== undefined) return known
  const places = JSON.stringify(json).length / jsonOfSignature
  placesByJson.set(json, places)
  return places
}

const placesByJson = new WeakMap<object, number>()

/** What a signature costs that OpenSSL accepts. */
export const signatureCost = 20
/** What it costs more to check it again by the other implementation. */
export const doubtfulSignatureCost = 250
/** What a block or transaction costs that is decoded and hashed. */
export const judgementBase = 50
/** What a block costs that is posted: with ten signatures, more than most have. */
export const submissionCost = judgementBase + 10 * signatureCost
/** What a chain record costs that is set: it is written in a transaction of its own, and its event is sent. */
export const chainRecordCost = 400
/** What a request to the faucet costs: a transaction is made, signed, judged and booked for it. */
export const faucetCost = 1_000
/** The shortest text of a signature with its key and their types: 97 bytes in digits, and in JSON. */
const hexOfSignature = 2 * 97
const jsonOfSignature = 230
/** As many as the largest block has place for. */
const mostSignatures = Math.floor(32_768 / 97)

/** Judging a transaction that is in what has the field, with as many signatures as a block has place for. */
export const judgementOfParent = computesUpTo(judgementBase + mostSignatures * signatureCost)

/** The prices of fields that are dear by themselves. */
export const fieldCost = {
  /** Bytes of an output, or other text that is mostly some hundred bytes long. */
  bytes: bytes(512),
  /** A serialized block as text. */
  blockBytes: bytes(65_538),
  /** Up to 1,000 texts of 256 characters, mostly a few. */
  accessNodes: bytes(10_240),
  /** Decoding a block or a transaction. */
  block: { ...computes(1), field: 20 },
  /** A block is read twice; mostly it has less than 200 fields. */
  blockFields: { ...computes(2), field: 20, multiplier: 200 },
  /** An output or an address is read again; mostly it has less than 40 fields. */
  outputFields: { ...computes(1), multiplier: 40 },
  /** A transaction is judged once more, with ten signatures where it failed, and what it refers to is read. */
  examination: computesUpTo(submissionCost),
  /** A transaction is decoded and hashed with all its outputs, for one of them or for all. */
  proof: computes(50),
  /** All accounts that stake are read and sorted. */
  validators: computes(50),
  /** Blocks or transactions of a slot are counted in an index, some thousand of them. */
  count: computesUpTo(20),
  /** Up to 10,000 outputs are read and decoded. */
  mana: computesUpTo(5_000),
  /** A field of introspection. All of them are resolved in one go, while everything else waits. */
  introspection: computes(3),
} as const
