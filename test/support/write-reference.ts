import { writeFileSync } from 'node:fs'
import { referenceText } from '../../src/api/graphql/print-reference.ts'

/** Writes `docs/reference.md` anew: `npm run reference`. */
writeFileSync(new URL('../../docs/reference.md', import.meta.url), referenceText())
