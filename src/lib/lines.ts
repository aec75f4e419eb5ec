/**
 * The lines of a stream of UTF-8, without their ends (`\n` or `\r\n`). Only these end a line, for a JSON text may
 * hold any other separator. A last line needs no end; an empty one after the last end is none.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let begun: string[] = []
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    begun.push(first)
    for (const next of others) {
      // Joined once, so that a line of many chunks costs no more than its length.
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
