/**
 * Divides rows into lines of a snapshot: few enough rows per line to prove and write them in a few milliseconds, and fewer when they
 * are large. `size` returns the bytes of a row.
 */
export async function* inLines<T>(
  rows: Iterable<T> | AsyncIterable<T>,
  size: (row: T) => number,
): AsyncGenerator<readonly T[]> {
  let line: T[] = []
  let bytes = 0
  for await (const row of rows) {
    line.push(row)
    bytes += size(row)
    if (line.length < maxRowsInLine && bytes < targetLineBytes) continue
    yield line
    line = []
    bytes = 0
  }
  if (line.length > 0) yield line
}

const maxRowsInLine = 100

/** A line ends with the row that reaches this size. */
const targetLineBytes = 65_536
