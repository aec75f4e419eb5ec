import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../', import.meta.url)

/** Words without a meaning of their own. */
const fillers = new Set(
  'a an the of in for to by with and or is are as its it at on from that which this one each all their'.split(
    ' ',
  ),
)

/** Returns the doc comments that say only what the name below them says. */
function repeatedNames(text: string): string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const [, comment] = /^\s*\/\*\* (.*) \*\/$/.exec(line) ?? []
    const [, name] = declaration.exec(lines[at + 1] ?? '') ?? []
    if (comment === undefined || name === undefined) return []
    const said = wordsOf(name)
    return wordsOf(comment).every((word) => fillers.has(word) || said.includes(word))
      ? [`${comment} | ${name}`]
      : []
  })
}

const declaration =
  /^\s*(?:(?:export|default|declare|abstract|async|readonly|static|get|function\*?|const|let|interface|type|class) )*(\w+)/

/** Returns the words of a name or a sentence, in lower case and without their endings. */
function wordsOf(text: string): string[] {
  const words = text.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? []
  return words.map((word) => word.toLowerCase().replace(/(?<=\w{3})(?:ing|ed|es|s)$/, ''))
}

test('no comment only repeats the name below it (decision 024)', () => {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root, exclude: ['src/generated/**'] })
  expect(files.length).toBeGreaterThan(500)
  const found = files.flatMap((file) =>
    repeatedNames(readFileSync(new URL(file, root), 'utf8')).map((one) => `${file}: ${one}`),
  )
  expect(found).toEqual([])
})

test('the check finds a comment without a fact of its own', () => {
  const repeated = ['/** Options of an export. */', 'export interface ExportOptions {']
  const unit = ['  /** Size of a page in bytes. */', '  readonly pageSize: number']
  expect(repeatedNames(repeated.join('\n'))).toEqual(['Options of an export. | ExportOptions'])
  expect(repeatedNames(unit.join('\n'))).toEqual([])
})
