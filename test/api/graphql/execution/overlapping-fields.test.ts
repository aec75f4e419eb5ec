import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type DocumentNode,
  OverlappingFieldsCanBeMergedRule,
  parse,
  validate,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { maxMergedFields } from '../../../../src/api/graphql/execution/limits.ts'
import { fieldsCanBeMerged } from '../../../../src/api/graphql/execution/overlapping-fields.ts'
import { graphqlRequest } from '../../../attack/fuzz-graphql.ts'
import { createRandom } from '../../../support/random.ts'
import { runs } from '../../../support/runs.ts'

/** The rule that fields can be merged, compared with the rule of the library. */

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'))

const animals = buildSchema(`
  interface Animal { name: String names: [String] age: Int friend: Animal }
  type Dog implements Animal { name: String names: [String] age: Int friend: Animal barks: Boolean! loud: Int called(by: Call): String }
  type Cat implements Animal { name: String names: [String] age: Int friend: Animal purrs: String quiet: Int called(by: Call): String }
  input Call { name: String times: [Int] }
  union Pet = Dog | Cat
  type Query { animal: Animal dog: Dog pet: Pet cats: [Cat!] }
`)

function messages(document: DocumentNode, rule: typeof fieldsCanBeMerged, of = schema) {
  const errors = validate(of, document, [rule], { maxErrors: 100_000 })
  return errors.map(({ message }) => message)
}

describe('fields of one name', () => {
  const rows = [
    ['the same', '{ dog { name name } }'],
    ['different', '{ dog { name: age name } }'],
    ['different in a fragment', '{ dog { ...F x: name } } fragment F on Dog { x: age }'],
    [
      'different in two fragments',
      '{ dog { ...F ...G } } fragment F on Dog { x: age } fragment G on Dog { x: name }',
    ],
    ['different in what they select', '{ dog { friend { x: name } friend { x: age } } }'],
    [
      'different in nested selections',
      '{ dog { friend { friend { x: name } } friend { friend { x: age } } } }',
    ],
    ['of different arguments', '{ dog { x: called(by: {name: "a"}) x: called(by: {name: "b"}) } }'],
    ['with one more argument', '{ dog { x: called x: called(by: {}) } }'],
    [
      'of the same arguments in another order',
      '{ dog { x: called(by: {name: "a", times: [1]}) x: called(by: {times: [1], name: "a"}) } }',
    ],
    [
      'of numbers in another order',
      '{ dog { x: called(by: {times: [1, 2]}) x: called(by: {times: [2, 1]}) } }',
    ],
    [
      'of different variables',
      'query ($a: Call, $b: Call) { dog { x: called(by: $a) x: called(by: $b) } }',
    ],
    [
      'of a variable and a text',
      'query ($a: Call) { dog { x: called(by: $a) x: called(by: {name: "$a"}) } }',
    ],
    [
      'of a null and a name',
      '{ dog { x: called(by: {name: null}) x: called(by: {name: "null"}) } }',
    ],
    [
      'of different types with the same shape',
      '{ pet { ... on Dog { x: loud } ... on Cat { x: quiet } } }',
    ],
    [
      'of different types with different shapes',
      '{ pet { ... on Dog { x: barks } ... on Cat { x: purrs } } }',
    ],
    ['of a list and a single value', '{ pet { ... on Dog { x: names } ... on Cat { x: name } } }'],
    [
      'of a type and its interface',
      '{ animal { ... on Dog { x: loud } ... on Animal { x: age } } }',
    ],
    [
      'of a type, its interface and another type',
      '{ animal { ... on Dog { x: loud } ... on Cat { x: quiet } } }',
    ],
    [
      'within different types',
      '{ pet { ... on Dog { friend { x: name } } ... on Cat { friend { x: age } } } }',
    ],
    [
      'within different types, with the same shape',
      '{ pet { ... on Dog { friend { x: age } } ... on Cat { friend { ... on Dog { x: loud } } } } }',
    ],
    ['that do not exist', '{ dog { x: nothing x: name } }'],
    ['of types that do not exist', '{ dog { ... on Nothing { x: name } x: age } }'],
    ['in a fragment that is never spread', '{ dog { name } } fragment F on Dog { x: name x: age }'],
    [
      'in fragments that spread each other',
      '{ dog { ...F } } fragment F on Dog { friend { ...G } } fragment G on Dog { friend { ...F } name: age name }',
    ],
    ['in a fragment that spreads itself', '{ dog { ...F } } fragment F on Dog { ...F }'],
    ['in the second operation', 'query A { dog { name } } query B { dog { name: age name } }'],
    [
      'in a fragment of two operations',
      'query A { dog { ...F } } query B { dog { ...F } } fragment F on Dog { x: name x: age }',
    ],
  ] as const
  test.each(rows)('%s are refused exactly if the library refuses them', (_name, text) => {
    const document = parse(text)
    const own = messages(document, fieldsCanBeMerged, animals)
    const expected = messages(document, OverlappingFieldsCanBeMergedRule, animals)
    expect(own.length > 0).toBe(expected.length > 0)
    expect(expected).toEqual(expect.arrayContaining(own))
  })

  test('that are a leaf and an object are refused', () => {
    const document = parse('{ a: dog { name } ...F } fragment F on Query { a: cats { name } }')
    expect(messages(document, fieldsCanBeMerged, animals)).toEqual([
      'Fields "a" conflict because "dog" and "cats" are different fields. Use different aliases on the fields to fetch both if this was intentional.',
    ])
  })

  test('are refused with the places of the library', () => {
    const document = parse('{ dog { friend { x: name } friend { x: age } } }')
    const placesOf = (rule: typeof fieldsCanBeMerged) =>
      validate(animals, document, [rule]).map(({ locations }) => locations)
    expect(placesOf(fieldsCanBeMerged)).toEqual(placesOf(OverlappingFieldsCanBeMergedRule))
  })
})

describe('in random documents,', () => {
  const known = ['tst1qqqq', `0x${'00'.repeat(38)}`]

  /** Leaves few names in the response, so that many fields have the same name. */
  function withFewNames(query: string, i: number): string {
    return query.replaceAll(/\w+_(\d+): /g, (_, digits: string) => {
      const number = Number(digits)
      if (i % 3 === 0) return ''
      return i % 3 === 1 ? `x${number % 3}: ` : number % 4 === 0 ? `x${number % 2}: ` : ''
    })
  }

  test('fields are refused exactly if the library refuses them', () => {
    let refused = 0
    const { numRuns: count } = runs(300)
    for (let i = 0; i < count; i++) {
      const random = createRandom(5_000_003 + i * 7_919)
      const { target, init } = graphqlRequest({ schema, known, token: 'x' }, random)
      const query =
        typeof init.body === 'string'
          ? JSON.parse(init.body).query
          : new URLSearchParams(target.split('?')[1]).get('query')
      // GraphQL has no unpaired surrogates, and the random texts have some.
      const document = parse(withFewNames(query.replaceAll('\\ud800', ''), i))
      const [own, expected] = [fieldsCanBeMerged, OverlappingFieldsCanBeMergedRule].map(
        (rule) => messages(document, rule).length > 0,
      )
      if (own !== expected) expect(`${query} ${own}`).toBe(expected)
      if (own) refused++
    }
    expect(refused).toBeGreaterThan(count / 4)
    expect(refused).toBeLessThan((count * 3) / 4)
  })
})

describe('a document of thousands of fields of one name', () => {
  const times = (count: number, one: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => one(i)).join(' ')
  const rows = [
    ['side by side', `{ ${'milestone { index } '.repeat(2_000)} }`],
    ['with arguments', `{ ${'milestone(index: 1) { index } '.repeat(1_000)} }`],
    [
      'in fragments',
      `{ ${times(400, (i) => `...F${i}`)} } ${times(400, (i) => `fragment F${i} on Query { milestone { index } }`)}`,
    ],
    [
      'in a fragment of many operations',
      `${times(300, (i) => `query Q${i} { ...F }`)} fragment F on Query { ${'milestone { index } '.repeat(500)} }`,
    ],
  ] as const
  test.each(rows)('%s is valid, although the library aborts', (_name, text) => {
    const document = parse(text)
    expect(messages(document, OverlappingFieldsCanBeMergedRule)).toEqual(['Validation aborted.'])
    expect(messages(document, fieldsCanBeMerged)).toEqual([])
  })

  test('is refused if they are merged too often', () => {
    const operations = (count: number) =>
      `${times(count, (i) => `query Q${i} { id${i}: __typename ...F }`)} fragment F on Query { ${'__typename '.repeat(1_000)} }`
    // Each operation selects two fields, and those of the fragment.
    const maximum = Math.floor(maxMergedFields / 1_002)
    expect(messages(parse(operations(maximum)), fieldsCanBeMerged)).toEqual([])
    expect(messages(parse(operations(maximum + 1)), fieldsCanBeMerged)).toEqual([
      `More than ${maxMergedFields} fields of the document are merged in the response.`,
    ])
  })
})
