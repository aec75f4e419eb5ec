import type { Duplex } from 'node:stream'
import { hexToBytes } from '../lib/hex.ts'
import type { Parameter } from './database.ts'

/**
 * The messages of statements on a connection to PostgreSQL, written and read here (PostgreSQL manual, 54.7): the driver makes an
 * object and an event of each message, and a text of each value.
 */

/** What reads the answers of statements, as long as they come. */
export interface AnswerReader {
  /** A row: the bytes of a chunk from a place on. */
  row(bytes: Buffer, at: number): void
  /** A statement is done. */
  complete(): void
}

/** Reads what a server sends from now on, and passes on to the driver what is none of our answers. */
export interface MessageReader {
  /** Who reads answers; without one the driver does. */
  answersTo: AnswerReader | undefined
}

/** Takes the stream of a driver's connection between two statements. */
export function readMessages(stream: Duplex): MessageReader {
  const reader: MessageReader = { answersTo: undefined }
  const ofDriver = stream.listeners('data')
  for (const hear of ofDriver) stream.off('data', hear as () => void)
  let rest: Buffer = noBytes

  function pass(message: Buffer): void {
    for (const hear of ofDriver) hear.call(stream, message)
  }

  function take(chunk: Buffer): void {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (at + headLength <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1)
      if (end > bytes.length) break
      const { answersTo } = reader
      if (answersTo === undefined) pass(bytes.subarray(at, end))
      else read(answersTo, bytes, at, end)
      at = end
    }
    rest = at === bytes.length ? noBytes : bytes.subarray(at)
  }

  function read(answersTo: AnswerReader, bytes: Buffer, at: number, end: number): void {
    switch (bytes[at]) {
      case codes.dataRow:
        answersTo.row(bytes, at + headLength)
        break
      case codes.commandComplete:
      case codes.emptyQueryResponse:
        answersTo.complete()
        break
      case codes.parseComplete:
      case codes.bindComplete:
      case codes.closeComplete:
      case codes.noData:
        break
      default:
        pass(bytes.subarray(at, end))
    }
  }

  stream.on('data', take)
  return reader
}

const noBytes = Buffer.alloc(0)

/** The code of a message and its length. */
const headLength = 5

const codes = {
  parseComplete: 0x31,
  bindComplete: 0x32,
  closeComplete: 0x33,
  commandComplete: 0x43,
  dataRow: 0x44,
  emptyQueryResponse: 0x49,
  noData: 0x6e,
} as const

/** How the values of a column come, and what is made of them: of some bytes of a chunk. */
export interface ColumnReader {
  readonly isBinary: boolean
  readonly read: (bytes: Buffer, from: number, to: number) => unknown
}

/** The values of a row. */
export function valuesOf(
  columns: readonly ColumnReader[],
  bytes: Buffer,
  start: number,
): unknown[] {
  const values: unknown[] = new Array(columns.length)
  let at = start + 2
  for (let i = 0; i < columns.length; i++) {
    const length = bytes.readInt32BE(at)
    at += 4
    if (length < 0) {
      values[i] = null
      continue
    }
    values[i] = columns[i]?.read(bytes, at, at + length)
    at += length
  }
  return values
}

/** How a column of a type (pg_type) comes where its type was not known: as text. */
export function textColumn(type: number): ColumnReader {
  const parse = parsers.get(type)
  if (parse === undefined) return text
  return { isBinary: false, read: (bytes, from, to) => parse(bytes.toString('latin1', from, to)) }
}

/** How it comes once its type is known. */
export function columnOf(type: number): ColumnReader {
  return binaryColumns.get(type) ?? textColumn(type)
}

const text: ColumnReader = {
  isBinary: false,
  read: (bytes, from, to) => bytes.toString('utf8', from, to),
}

/** What the columns of our tables are made of: bytes, bigint and integers, truth values; all else stays text. */
const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map([
  [16, (text: string): unknown => text === 't'],
  [17, (text: string) => hexToBytes(`0x${text.slice(2)}`)],
  [20, wholeNumberOf],
  [23, Number],
])

const binaryColumns: ReadonlyMap<number, ColumnReader> = new Map([
  [16, binary((bytes, from) => bytes[from] === 1)],
  // A copy: what is kept would keep its chunk.
  [17, binary((bytes, from, to) => new Uint8Array(bytes.subarray(from, to)))],
  [20, binary(wholeNumber)],
  [23, binary((bytes, from) => bytes.readInt32BE(from))],
  [25, { ...text, isBinary: true }],
])

function binary(read: ColumnReader['read']): ColumnReader {
  return { isBinary: true, read }
}

/** A number where it is exact. */
function wholeNumberOf(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

function wholeNumber(bytes: Buffer, from: number): number | bigint {
  const number = bytes.readInt32BE(from) * 2 ** 32 + bytes.readUInt32BE(from + 4)
  return Number.isSafeInteger(number) ? number : bytes.readBigInt64BE(from)
}

/** A statement as it is sent. */
export interface Sent {
  /** Empty where it has none. */
  readonly name: string
  readonly text: string
  readonly values: readonly Parameter[]
  /** Whether the connection knows it by its name. */
  readonly isPrepared: boolean
  /** How its columns come; `undefined` where the server has to describe them. */
  readonly columns: readonly ColumnReader[] | undefined
}

/** The messages of some statements, with one Sync. */
export function messagesOf(batch: readonly Sent[]): Buffer {
  const size = batch.reduce((sum, one) => sum + sizeOf(one), headLength)
  const writer = createWriter(Buffer.allocUnsafe(size))
  for (const one of batch) {
    if (!one.isPrepared) writePreparation(writer, one)
    writeBind(writer, one)
    if (one.columns === undefined) writer.message(0x44, () => writer.text('P'))
    writer.message(0x45, () => {
      writer.text('')
      writer.int32(0)
    })
  }
  writer.message(0x53, () => {})
  return writer.written()
}

/** At most: heads, counts, ends of texts and formats are some bytes each. */
function sizeOf({ name, text, values, isPrepared, columns = [] }: Sent): number {
  const ofValues = values.reduce<number>((sum, value) => sum + 26 + lengthOf(value), 0)
  const prepared = isPrepared ? 0 : Buffer.byteLength(text) + 2 * name.length + 24
  return 64 + name.length + prepared + ofValues + 2 * columns.length
}

function lengthOf(value: Parameter): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return value instanceof Uint8Array ? value.length : 0
}

function writePreparation(writer: Writer, { name, text }: Sent): void {
  // Behind a pooler another process may have prepared it on this connection. To close what is not there is no error.
  if (name !== '') writer.message(0x43, () => writer.text(`S${name}`))
  writer.message(0x50, () => {
    writer.text(name)
    writer.text(text)
    writer.int16(0)
  })
}

function writeBind(writer: Writer, { name, values, columns }: Sent): void {
  writer.message(0x42, () => {
    writer.text('')
    writer.text(name)
    writer.int16(values.length)
    for (const value of values) writer.int16(value instanceof Uint8Array ? 1 : 0)
    writer.int16(values.length)
    for (const value of values) writer.value(value)
    writer.int16(columns?.length ?? 0)
    for (const { isBinary } of columns ?? []) writer.int16(isBinary ? 1 : 0)
  })
}

interface Writer {
  /** A message with what is written meanwhile. */
  message(code: number, write: () => void): void
  int16(value: number): void
  int32(value: number): void
  /** With the zero that ends it. */
  text(value: string): void
  /** A parameter: bytes as they are, all else as text. */
  value(value: Parameter): void
  written(): Buffer
}

function createWriter(bytes: Buffer): Writer {
  let at = 0
  const int32 = (value: number) => {
    at = bytes.writeInt32BE(value, at)
  }

  return {
    message: (code, write) => {
      const begin = at
      bytes[begin] = code
      at += headLength
      write()
      bytes.writeInt32BE(at - begin - 1, begin + 1)
    },
    int16: (value) => {
      at = bytes.writeInt16BE(value, at)
    },
    int32,
    text: (value) => {
      at += bytes.write(value, at)
      bytes[at++] = 0
    },
    value: (value) => {
      if (value === null) return int32(-1)
      const begin = at + 4
      if (value instanceof Uint8Array) {
        bytes.set(value, begin)
        at = begin + value.length
      } else {
        at = begin + bytes.write(String(value), begin)
      }
      bytes.writeInt32BE(at - begin, begin - 4)
    },
    written: () => bytes.subarray(0, at),
  }
}
