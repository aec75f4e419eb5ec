import { writeFileSync } from 'node:fs'
import { referenceText } from '../../src/api/graphql/print-reference.ts'
import { cliPage } from './cli-page.ts'
import { limitsPage } from './limits-page.ts'
import { schemaText, settingsPage } from './settings-page.ts'

/** `npm run reference`: writes the generated pages of `docs`. */
writeFileSync(new URL('../../docs/reference.md', import.meta.url), referenceText())
writeFileSync(new URL('../../docs/limits.md', import.meta.url), limitsPage())
writeFileSync(new URL('../../docs/cli.md', import.meta.url), cliPage())
writeFileSync(new URL('../../docs/settings.md', import.meta.url), settingsPage())
writeFileSync(new URL('../../docs/settings.schema.json', import.meta.url), schemaText())
