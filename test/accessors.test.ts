import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../', import.meta.url)

/** The line of each accessor that is a member of an object literal: what is indented less before it begins no class. */
function literalAccessors(text: string): string[] {
  const lines = text.split('\n')
  const depthOf = (line: string) => line.length - line.trimStart().length
  return lines.filter((line, at) => {
    if (!/^\s+(get|set) #?\w+\(/.test(line)) return false
    const owner = lines.slice(0, at).findLast((one) => one !== '' && depthOf(one) < depthOf(line))
    return !/\b(class|interface)\b/.test(owner ?? '')
  })
}

test('accessors are members of classes: an object literal with one is slow to make (decision 022)', () => {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root, exclude: ['src/generated/**'] })
  expect(files.length).toBeGreaterThan(500)
  const found = files.flatMap((file) =>
    literalAccessors(readFileSync(new URL(file, root), 'utf8')).map((line) => `${file}: ${line}`),
  )
  expect(found).toEqual([])
})

test('an accessor of a literal is found, and one of a class is not', () => {
  const literal = ['function make() {', '  return {', '    get size() {', '      return 1']
  const inClass = ['export class Queue {', '  #size = 0', '', '  get size(): number {']
  expect(literalAccessors(literal.join('\n'))).toEqual(['    get size() {'])
  expect(literalAccessors(inClass.join('\n'))).toEqual([])
})
