import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './schema.ts'

/** Returns the schema as sorted text: the content of `schema.graphql`. */
export function schemaText(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`
}
