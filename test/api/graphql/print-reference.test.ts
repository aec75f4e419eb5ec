import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { protocolRoots } from '../../../src/api/graphql/model/model.ts'
import { collectTypes } from '../../../src/api/graphql/model/protocol-types.ts'
import { referenceText } from '../../../src/api/graphql/print-reference.ts'

const written = readFileSync(new URL('../../../docs/reference.md', import.meta.url), 'utf8')
const { structs, families } = collectTypes(protocolRoots)

describe('docs/reference.md', () => {
  test('matches the declarations; otherwise run npm run reference', () =>
    expect(written).toBe(referenceText()))

  test('has every family and type once, and none that is not declared', () =>
    expect(headings(written)).toEqual([...families.keys(), ...structs.keys()].sort()))

  test.each([...structs.values()])('$name has every member', ({ name, fields }) =>
    expect(membersOf(name)).toEqual(Object.keys(fields)),
  )
})

test('a type whose name the ledger has too is that of the protocol', () => {
  expect(written).not.toContain('undefined')
  expect(written).toContain('| `header` | [BlockHeader](#blockheader) | `BlockHeader!` |')
  expect(written).toContain('| `inputs` | array of [Input](#input) | `[Input!]!` |')
})

function headings(text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith('### ') ? [line.slice(4)] : []))
    .sort()
}

function membersOf(type: string): readonly string[] {
  const section = written.split('\n### ').find((part) => part.startsWith(`${type}\n`)) ?? ''
  return [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, member = '']) => member)
}
