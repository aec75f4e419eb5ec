/**
 * Splits a UTF-8 stream into lines without their ends (`\n` or `\r\n`). Nothing else ends a line, because a JSON text may contain any
 * other separator. The last line needs no end. The empty text after the last end is not a line.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let begun: string[] = []
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    begun.push(first)
    for (const next of others) {
      // The chunks of a line are joined once, so the cost is proportional to its length.
      yield withoutReturn(begun.join(''))
      begun = [next]
    }
  }
  const last = begun.join('') + decoder.decode()
  if (last !== '') yield withoutReturn(last)
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
