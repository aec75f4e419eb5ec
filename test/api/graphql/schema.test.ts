import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { schemaText } from '../../../src/api/graphql/print-schema.ts'

test('schema.graphql is the schema; `npm run schema` writes it anew', () => {
  const file = new URL('../../../schema.graphql', import.meta.url)
  expect(readFileSync(file, 'utf8')).toBe(schemaText())
})
