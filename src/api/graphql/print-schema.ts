import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './schema.ts'

/** The schema as text, in one order: the content of `schema.graphql`. */
export function schemaText(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`
}
