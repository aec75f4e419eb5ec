import { type ColumnType, ColumnTypeEnum } from '@prisma/driver-adapter-utils'

/**
 * Rows as one thread sends them to another. All bytes are in one buffer that is transferred, because copying thousands of small buffers
 * takes longer than the query.
 */
export interface PackedRows {
  /** Rows with the lengths of bytes in place of the bytes. */
  readonly rows: unknown[][]
  /** Concatenation of all bytes. */
  readonly bytes: Uint8Array | undefined
}

/** Packs rows. Changes the given rows. */
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

/** Restores the rows. Their bytes are views of the buffer. Each result has its own buffer, so a row keeps only its own result in memory. */
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

/** Concatenates bytes in memory outside of Node's buffer pool, so that it can be transferred. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
