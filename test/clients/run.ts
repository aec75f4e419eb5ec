import { fileURLToPath } from 'node:url'
import { startChainWorld } from '../support/chain-world.ts'
import { pages, setRecords, variablesIn } from '../support/explorer-pages.ts'
import { installPackages } from '../support/install-packages.ts'
import { compileForRelay } from './relay.ts'
import { lintSchema } from './schema-rules.ts'
import { compileTyped } from './typed.ts'

/** `npm run test:clients`: tests third-party GraphQL clients and a schema linter with `schema.graphql`. */

const folder = fileURLToPath(new URL('.', import.meta.url))

installPackages(folder, '--ignore-scripts')

/** Prints a statement that holds, or the problems with it. */
function report(statement: string, problems: string): void {
  console.log(problems === '' ? `ok    ${statement}` : `FAIL  ${statement}\n${problems}`)
  if (problems !== '') process.exitCode = 1
}

report('The schema follows the rules of graphql-eslint.', lintSchema().join('\n'))
const { nodes, problems } = compileForRelay()
report(`Relay compiles a refetchable fragment on each of ${nodes.join(', ')}, and lists.`, problems)
const typing = compileTyped()
report(`gql.tada types the documents of ${pages.join(', ')}.`, typing)
if (typing === '') report('Their responses match the types.', await requestTyped())

/** Runs the typed client against a gateway with every kind of output in its ledger. Returns the pages without data. */
async function requestTyped(): Promise<string> {
  const started = await startChainWorld({ players: 50, rounds: 9 })
  try {
    const { slot: _, ...variables } = await variablesIn(started)
    await setRecords(started.world.gateway, variables)
    // The packages of this folder compile it.
    const { requestPages } = await import(new URL('pages.ts', import.meta.url).href)
    const found: readonly string[] = await requestPages(started.world.gateway.url, variables)
    return pages.filter((page) => !found.includes(page)).join('\n')
  } finally {
    await started.world.close()
  }
}
