import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linesOf } from '../../src/lib/lines.ts'

describe('lines of a stream', () => {
  const rows = [
    ['of an empty text', '', []],
    ['without an end', 'a', ['a']],
    ['with an end', 'a\n', ['a']],
    ['that are empty', '\n\nb\n', ['', '', 'b']],
    ['with both kinds of ends', 'a\r\nb\r', ['a', 'b']],
    ['with other separators, which stay', 'a\u2028b\rc\n', ['a\u2028b\rc']],
  ] as const

  test.each(rows)('%s', async (_name, text, lines) => {
    expect(await collected([Buffer.from(text)])).toEqual(lines)
  })

  test('with any division into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }).filter((line) => !/[\n\r]/.test(line))),
        fc.array(fc.nat(50)),
        async (lines, cuts) => {
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
          expect(await collected(cutUp(bytes, cuts))).toEqual(lines)
        },
      ),
    )
  })
})

function cutUp(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const [size, ...others] = sizes
  if (size === undefined) return [bytes]
  return [bytes.subarray(0, size), ...cutUp(bytes.subarray(size), others)]
}

async function collected(chunks: readonly Uint8Array[]): Promise<string[]> {
  const lines: string[] = []
  for await (const line of linesOf(Readable.from(chunks))) lines.push(line)
  return lines
}
