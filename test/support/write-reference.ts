import { writeFileSync } from 'node:fs'
import { referenceText } from '../../src/api/graphql/print-reference.ts'
import { limitsPage } from './limits-page.ts'

/** Writes `docs/reference.md` and `docs/limits.md` anew: `npm run reference`. */
writeFileSync(new URL('../../docs/reference.md', import.meta.url), referenceText())
writeFileSync(new URL('../../docs/limits.md', import.meta.url), limitsPage())
