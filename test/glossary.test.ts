import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/** Holds `docs/glossary.md` against the exported names of the source. */

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

/** Words that the field uses in another sense as well, or that clients know in this one. */
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
    const offending = exported.filter((name) => rejected.some((word) => wordsOf(name, word)))
    expect(offending).toEqual([])
  })
})

function exportsOf(text: string): string[] {
  const found = text.matchAll(
    /^export (?:async )?(?:function\*?|const|interface|type|class) (\w+)/gm,
  )
  return Array.from(found, ([, name = '']) => name)
}

/** Whether the words of a camel-case name contain a word, or several words in a row. */
function wordsOf(name: string, word: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()
  return new RegExp(`\\b${word}s?\\b`).test(words)
}
