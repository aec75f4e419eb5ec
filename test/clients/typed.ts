import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { pages, textOf } from '../support/explorer-pages.ts'

/** Typed documents of the pages of `docs/examples/explorer`, whose types are inferred from `schema.graphql`. */

const folder = fileURLToPath(new URL('.', import.meta.url))
const generated = new URL('generated/', import.meta.url)

/** Writes the documents and the types of the schema, compiles `pages.ts` and returns the errors. */
export function compileTyped(): string {
  mkdirSync(generated, { recursive: true })
  const documents = pages.map(
    (page) => `export const ${page} = graphql(\`
${textOf(page)}\`)
`,
  )
  const source = ["import { graphql } from '../client.ts'\n", ...documents].join('\n')
  writeFileSync(new URL('documents.ts', generated), source)
  return run('gql.tada/bin/cli.js', ['generate-output']) || run('typescript/bin/tsc', ['-p', '.'])
}

/** Runs a program of the packages of this folder and returns its output if it fails. */
function run(program: string, words: readonly string[]): string {
  const file = fileURLToPath(new URL(`node_modules/${program}`, import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...words], {
    cwd: folder,
    encoding: 'utf8',
  })
  return status === 0 ? '' : `${program} ${words.join(' ')}:\n${stdout}${stderr}`
}
