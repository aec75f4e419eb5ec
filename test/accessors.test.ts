import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../', import.meta.url)

/** Returns the lines of accessors in object literals: the nearest earlier line with less indentation starts no class. */
function literalAccessors(text: string): string[] {
  const lines = text.split('\n')
  const depthOf = (line: string) => line.length - line.trimStart().length
  return lines.filter((line, at) => {
    if (!/^\s+(get|set) #?\w+\(/.test(line)) return false
    const owner = lines.slice(0, at).findLast((one) => one !== '' && depthOf(one) < depthOf(line))
    return !/\b(class|interface)\b/.test(owner ?? '')
  })
}

test('accessors are members of classes, because an object literal with one is slow to create (decision 022)', () => {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root, exclude: ['src/generated/**'] })
  expect(files.length).toBeGreaterThan(500)
  const found = files.flatMap((file) =>
    literalAccessors(readFileSync(new URL(file, root), 'utf8')).map((line) => `${file}: ${line}`),
  )
  expect(found).toEqual([])
})

test('the check finds an accessor of a literal but not of a class', () => {
  const literal = ['function make() {', '  return {', '    get size() {', '      return 1']
  const inClass = ['export class Queue {', '  #size = 0', '', '  get size(): number {']
  expect(literalAccessors(literal.join('\n'))).toEqual(['    get size() {'])
  expect(literalAccessors(inClass.join('\n'))).toEqual([])
})
