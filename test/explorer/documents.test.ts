import { fileURLToPath } from 'node:url'
import { buildSchema, Kind, parse } from 'graphql'
import { expect, test } from 'vitest'
import { documentOf, moduleOf } from '../support/explorer-documents.ts'

/** The generated types of the documents of the explorer. */

const schema = buildSchema(`
  scalar UInt32
  scalar Hex
  enum Sort { NEWEST OLDEST }
  input Wanted { weight: UInt32 colours: [Hex!]! }
  interface Thing { id: ID! }
  type Stone implements Thing { id: ID! weight: UInt32 }
  type Leaf implements Thing { id: ID! colour: Hex! }
  type Query { things(sort: Sort! = NEWEST, first: UInt32): [Thing!]! name(of: ID!): String found(by: Wanted!): ID }
`)

test('responses have types by kind, with null as in the schema', () => {
  const text = `query Page($of: ID!, $first: UInt32, $sort: Sort! = NEWEST) {
    called: name(of: $of)
    things(sort: $sort, first: $first) { __typename id ... on Stone { weight } ...Green }
  }
  fragment Green on Leaf { colour }`
  const module = moduleOf(schema, text, 'page.graphql')
  expect(module).toContain(
    "PageData = { readonly called: string | null; readonly things: readonly (({ readonly __typename: 'Stone'; readonly id: string; readonly weight: number | null } | { readonly __typename: 'Leaf'; readonly id: string; readonly colour: string }))[] }",
  )
  expect(module).toContain(
    "PageVariables = { readonly of: string; readonly first?: number | null | undefined; readonly sort?: ('NEWEST' | 'OLDEST') }",
  )
  expect(module).toContain('export type Green = { readonly colour: string }')
})

test('variables that are objects, and optional fields, have types', () => {
  const text = `query Page($by: Wanted!, $isIt: Boolean!) {
    found(by: $by) @include(if: $isIt)
    things { id @skip(if: $isIt) }
    things { id }
  }`
  const module = moduleOf(schema, text, 'page.graphql')
  expect(module).toContain(
    'PageData = { readonly found?: string | null; readonly things: readonly (({ readonly id: string }))[] }',
  )
  expect(module).toContain(
    'PageVariables = { readonly by: { readonly weight?: number | null | undefined; readonly colours: readonly (string)[] }; readonly isIt: boolean }',
  )
})

test('a field that the schema does not have is an error with its file', () => {
  const text = 'query Page { things { height } }'
  expect(() => moduleOf(schema, text, 'page.graphql')).toThrow(
    'page.graphql: Cannot query field "height" on type "Thing"',
  )
})

test('a document contains exactly the shared fragments that it uses directly or indirectly', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const { definitions } = parse(documentOf(root, 'delegation'))
  const names = definitions.flatMap((one) =>
    one.kind === Kind.FRAGMENT_DEFINITION ? [one.name.value] : [],
  )
  expect(names).toEqual(['ChainFacts', 'States', 'Condition', 'Feature', 'Metadata'])
})
