import { type ColumnType, ColumnTypeEnum } from '@prisma/driver-adapter-utils'

/**
 * Rows as one thread sends them to another: all bytes in one buffer, which is handed over, for to copy thousands of small ones
 * takes longer than to find them.
 */
export interface PackedRows {
  /** In place of bytes their length. */
  readonly rows: unknown[][]
  /** All bytes, one after the other. */
  readonly bytes: Uint8Array | undefined
}

/** Packs rows in place. */
export function packRows(rows: unknown[][], types: readonly ColumnType[]): PackedRows {
  const columns = bytesColumns(types)
  const parts: Uint8Array[] = []
  for (const row of rows) {
    for (const column of columns) {
      const value = row[column]
      if (!(value instanceof Uint8Array)) continue
      parts.push(value)
      row[column] = value.length
    }
  }
  return { rows, bytes: parts.length === 0 ? undefined : joined(parts) }
}

/** The rows as they were. Their bytes are parts of the one buffer: few rows do not keep many in memory, for they have one of their own. */
export function unpackRows({ rows, bytes }: PackedRows, types: readonly ColumnType[]): unknown[][] {
  if (bytes === undefined) return rows
  const columns = bytesColumns(types)
  let at = 0
  for (const row of rows) {
    for (const column of columns) {
      const length = row[column]
      if (typeof length !== 'number') continue
      row[column] = bytes.subarray(at, at + length)
      at += length
    }
  }
  return rows
}

function bytesColumns(types: readonly ColumnType[]): number[] {
  return types.flatMap((type, i) => (type === ColumnTypeEnum.Bytes ? [i] : []))
}

/** In memory that is no part of a pool, so that it can be handed over. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
