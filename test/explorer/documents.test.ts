import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'
import { moduleOf } from '../support/explorer-documents.ts'

/** The types of a document, as the explorer is checked against them. */

const schema = buildSchema(`
  scalar UInt32
  scalar Hex
  enum Sort { NEWEST OLDEST }
  interface Thing { id: ID! }
  type Stone implements Thing { id: ID! weight: UInt32 }
  type Leaf implements Thing { id: ID! colour: Hex! }
  type Query { things(sort: Sort! = NEWEST, first: UInt32): [Thing!]! name(of: ID!): String }
`)

test('an answer is typed by kind, null where the schema says so', () => {
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

test('a field that the schema does not have is refused with its place', () => {
  const text = 'query Page { things { height } }'
  expect(() => moduleOf(schema, text, 'page.graphql')).toThrow(
    'page.graphql: Cannot query field "height" on type "Thing"',
  )
})
