import { fileURLToPath } from 'node:url'
import { startChainWorld } from '../support/chain-world.ts'
import { pages, setRecords, variablesIn } from '../support/explorer-pages.ts'
import { installPackages } from '../support/install-packages.ts'
import { compileForRelay } from './relay.ts'
import { lintSchema } from './schema-rules.ts'
import { compileTyped } from './typed.ts'

/** `npm run test:clients`: whether clients that others build take `schema.graphql`, and a linter's rules for schemas hold. */

const folder = fileURLToPath(new URL('.', import.meta.url))

installPackages(folder, '--ignore-scripts')

/** Says what was shown, or what is wrong. */
function report(shown: string, problems: string): void {
  console.log(problems === '' ? `ok    ${shown}` : `FAIL  ${shown}\n${problems}`)
  if (problems !== '') process.exitCode = 1
}

report('The schema keeps the rules of graphql-eslint.', lintSchema().join('\n'))
const { nodes, problems } = compileForRelay()
report(`Relay compiles a refetchable fragment on each of ${nodes.join(', ')}, and lists.`, problems)
const typing = compileTyped()
report(`gql.tada types the documents of ${pages.join(', ')}.`, typing)
if (typing === '') report('They are answered as typed.', await askTyped())

/** Runs the typed client against a gateway with every kind of thing in its ledger; gives the pages that were not there. */
async function askTyped(): Promise<string> {
  const started = await startChainWorld({ players: 50, rounds: 9 })
  try {
    const { slot: _, ...variables } = await variablesIn(started)
    await setRecords(started.world.gateway, variables)
    // It is compiled by the packages of this folder alone.
    const { askForPages } = await import(new URL('pages.ts', import.meta.url).href)
    const there: readonly string[] = await askForPages(started.world.gateway.url, variables)
    return pages.filter((page) => !there.includes(page)).join('\n')
  } finally {
    await started.world.close()
  }
}
