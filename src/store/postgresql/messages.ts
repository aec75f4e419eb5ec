import type { Duplex } from 'node:stream'
import { types } from 'pg'
import type { Parameter } from '../database.ts'

/**
 * Writes and parses the messages of statements on a connection to PostgreSQL (PostgreSQL manual, 54.7). The driver would create an
 * object and an event for each message, and a text for each value.
 */

/** Receives the responses of statements. */
export interface ResponseReader {
  /** Called with a row, which begins at `at` in `bytes`. */
  row(bytes: Buffer, at: number): void
  /** Called at the end of a statement. */
  complete(): void
}

/** Parses the messages of a server, and forwards all messages to the driver that are not responses to our statements. */
export interface MessageReader {
  /** Receiver of responses. Without one, all messages go to the driver. */
  receiver: ResponseReader | undefined
}

/** Takes over the stream of a driver's connection. Call it between two statements. */
export function readMessages(stream: Duplex): MessageReader {
  const reader: MessageReader = { receiver: undefined }
  const ofDriver = stream.listeners('data')
  for (const listener of ofDriver) stream.off('data', listener as () => void)
  let rest: Buffer = noBytes

  function forward(message: Buffer): void {
    for (const listener of ofDriver) listener.call(stream, message)
  }

  function receive(chunk: Buffer): void {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (at + headLength <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1)
      if (end > bytes.length) break
      const { receiver } = reader
      if (receiver === undefined) forward(bytes.subarray(at, end))
      else read(receiver, bytes, at, end)
      at = end
    }
    rest = at === bytes.length ? noBytes : bytes.subarray(at)
  }

  function read(receiver: ResponseReader, bytes: Buffer, at: number, end: number): void {
    switch (bytes[at]) {
      case codes.dataRow:
        receiver.row(bytes, at + headLength)
        break
      case codes.commandComplete:
      case codes.emptyQueryResponse:
        receiver.complete()
        break
      case codes.parseComplete:
      case codes.bindComplete:
      case codes.closeComplete:
      case codes.noData:
        break
      default:
        forward(bytes.subarray(at, end))
    }
  }

  stream.on('data', receive)
  return reader
}

const noBytes = Buffer.alloc(0)

/** Bytes of a message header: the type code and the length. */
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

/** The wire format of a column, and the parser of its values. */
export interface ColumnReader {
  readonly isBinary: boolean
  /** Parses the bytes `from` to `to` of a chunk. */
  readonly read: (bytes: Buffer, from: number, to: number) => unknown
}

/** Parses the values of a row. */
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

/** Returns the reader of a column in text format. The server uses this format while the type (pg_type) is unknown to this process. */
export function textColumn(type: number): ColumnReader {
  const parse = parsers.get(type)
  if (parse === undefined) return text
  return { isBinary: false, read: (bytes, from, to) => parse(bytes.toString('latin1', from, to)) }
}

/** Returns the reader of a column whose type is known: binary format for the types of our tables. */
export function columnOf(type: number): ColumnReader {
  return binaryColumns.get(type) ?? textColumn(type)
}

/** Parses bytes as text. A role or a database may have the older of the two formats (`bytea_output = escape`). */
export function bytesOfText(text: string): Uint8Array {
  return new Uint8Array(types.getTypeParser(17)(text))
}

const text: ColumnReader = {
  isBinary: false,
  read: (bytes, from, to) => bytes.toString('utf8', from, to),
}

/** Parsers of the column types of our tables: booleans, bytes and integers. All other types stay text. */
const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map([
  [16, (text: string): unknown => text === 't'],
  [17, bytesOfText],
  [20, wholeNumberOf],
  [23, Number],
])

const binaryColumns: ReadonlyMap<number, ColumnReader> = new Map([
  [16, binary((bytes, from) => bytes[from] === 1)],
  // A copy, because a view would keep its whole chunk in memory.
  [17, binary((bytes, from, to) => new Uint8Array(bytes.subarray(from, to)))],
  [20, binary(wholeNumber)],
  [23, binary((bytes, from) => bytes.readInt32BE(from))],
  [25, { ...text, isBinary: true }],
])

function binary(read: ColumnReader['read']): ColumnReader {
  return { isBinary: true, read }
}

/** Returns a number if it is exact, and a bigint otherwise. */
function wholeNumberOf(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

function wholeNumber(bytes: Buffer, from: number): number | bigint {
  const number = bytes.readInt32BE(from) * 2 ** 32 + bytes.readUInt32BE(from + 4)
  return Number.isSafeInteger(number) ? number : bytes.readBigInt64BE(from)
}

/** A statement to send. */
export interface Sent {
  /** Name of the statement; empty for an unnamed one. */
  readonly name: string
  readonly text: string
  readonly values: readonly Parameter[]
  /** Whether the connection has prepared the statement under its name. */
  readonly isPrepared: boolean
  /** Readers of its columns; `undefined` if the server has to describe them. */
  readonly columns: readonly ColumnReader[] | undefined
}

/** Writes the messages of some statements, with one Sync. */
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

/** Upper bound of the size of a statement's messages. Headers, counts, text ends and formats take some bytes each. */
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
  // Behind a pooler, another process may have prepared this name on the connection. Closing an unknown statement is no error.
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
  /** Writes a message whose body `write` writes. */
  message(code: number, write: () => void): void
  int16(value: number): void
  int32(value: number): void
  /** Writes a text and its terminating zero. */
  text(value: string): void
  /** Writes a parameter: bytes as they are, all other values as text. */
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
