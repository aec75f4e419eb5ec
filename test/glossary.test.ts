import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/** Compares `docs/glossary.md` with the exported names of the source. */

const root = fileURLToPath(new URL('..', import.meta.url))

interface Entry {
  readonly word: string
  readonly name: string
  readonly rejected: readonly string[]
}

const entries: readonly Entry[] = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
  .split('\n')
  .map((line) => /^\| ([^|]+) \| `(\w+)` \| [^|]+ \|([^|]*)\|$/.exec(line))
  .filter((match) => match !== null)
  .map(([, word = '', name = '', rejected = '']) => ({
    word: word.trim(),
    name,
    rejected: rejected.split(',').map((one) => one.trim()),
  }))

/** Rejected words that have another usual sense too, or that clients know in this sense. */
const allowed = [['epoch', 'reader', 'member', 'share', 'term', 'listener'], ['handover']].flat()

const exported = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('generated'))
  .flatMap((file) => exportsOf(readFileSync(join(root, 'src', file), 'utf8')))

describe('glossary', () => {
  test('every name in it is exported', () => {
    expect(entries.length).toBeGreaterThan(20)
    const names = new Set(exported)
    expect(entries.filter(({ name }) => !names.has(name))).toEqual([])
  })

  test('no exported name uses a rejected word', () => {
    const rejected = entries
      .flatMap((entry) => entry.rejected)
      .filter((word) => word !== '' && !allowed.includes(word))
    expect(rejected.length).toBeGreaterThan(10)
    const offending = exported.filter((name) => rejected.some((word) => containsWord(name, word)))
    expect(offending).toEqual([])
  })
})

function exportsOf(text: string): string[] {
  const found = text.matchAll(
    /^export (?:async )?(?:function\*?|const|interface|type|class) (\w+)/gm,
  )
  return Array.from(found, ([, name = '']) => name)
}

/** Returns whether a camel-case name contains a word, or several words in a row. */
function containsWord(name: string, word: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()
  return new RegExp(`\\b${word}s?\\b`).test(words)
}
