import { writeFileSync } from 'node:fs'
import { schemaText } from '../../src/api/graphql/print-schema.ts'

/** Writes `schema.graphql` anew: `npm run schema`. */
writeFileSync(new URL('../../schema.graphql', import.meta.url), schemaText())
