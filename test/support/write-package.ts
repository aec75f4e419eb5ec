import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openapiDocument } from '../../src/api/rest/openapi/document.ts'
import { routes } from '../../src/api/rest/routes.ts'
import { programVersion } from '../../src/lib/version.ts'

/** The last step before `npm pack`, after the build: adds `openapi.json` to `dist`, and removes files without a source. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = join(root, 'dist')

const document = openapiDocument(routes, programVersion())
writeFileSync(join(dist, 'openapi.json'), `${JSON.stringify(document)}\n`)

// The compiler does not remove its output for deleted sources.
for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (/^(explorer|client-package)\b/.test(file)) continue
  const [, base, ending] = /^(.*?)(?:\.d)?\.([cm]?[jt]s)(?:\.map)?$/.exec(file) ?? []
  if (base === undefined || ending === undefined) continue
  const sources = [`${base}.${ending.replace('j', 't')}`, `${base}.${ending.replace('t', 'j')}`]
  if (!sources.some((source) => existsSync(join(root, 'src', source)))) rmSync(join(dist, file))
}
