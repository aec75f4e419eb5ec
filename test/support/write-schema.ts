import { writeFileSync } from 'node:fs'
import { schemaText } from '../../src/api/graphql/print-schema.ts'

/** `npm run schema`: writes `schema.graphql`. */
writeFileSync(new URL('../../schema.graphql', import.meta.url), schemaText())
