import { nearest } from '../lib/nearest.ts'
import { programVersion } from '../lib/version.ts'
import { asksForHelp, type Command, done, misused, type ProcessIo, table } from './command.ts'
import type { Declaration } from './declaration.ts'
import { completionDeclaration } from './declarations/completion.ts'
import {
  configDeclaration,
  faucetDeclaration,
  feedDeclaration,
  serveDeclaration,
  statusDeclaration,
  submitDeclaration,
  tokenDeclaration,
} from './declarations/gateway.ts'
import {
  backupDeclaration,
  checkDeclaration,
  distributeDeclaration,
  exportDeclaration,
  importDeclaration,
  partitionDeclaration,
  rebuildActivityDeclaration,
  restoreDeclaration,
  snapshotDeclaration,
} from './declarations/ledger.ts'
import { demoDeclaration, inspectDeclaration, verifyDeclaration } from './declarations/tools.ts'
import { helpText } from './help-text.ts'
import { topics } from './topics.ts'

/** The help of the program, and what is said when no command was named. */

/** What the other commands take, in the order of the help. */
const others: readonly Declaration[] = [
  serveDeclaration,
  configDeclaration,
  statusDeclaration,
  tokenDeclaration,
  faucetDeclaration,
  submitDeclaration,
  feedDeclaration,
  demoDeclaration,
  inspectDeclaration,
  verifyDeclaration,
  backupDeclaration,
  restoreDeclaration,
  checkDeclaration,
  exportDeclaration,
  importDeclaration,
  snapshotDeclaration,
  partitionDeclaration,
  distributeDeclaration,
  rebuildActivityDeclaration,
  completionDeclaration,
]

const helpDeclaration: Declaration = {
  name: 'help',
  summary: 'show this, or the help of a command or a topic',
  about: 'Shows the list of commands, the help of a command, or a topic.',
  words: [
    {
      name: 'NAME',
      help: 'of a command or a topic; topics lists those',
      isOptional: true,
      choices: [...others, ...topics, { name: 'topics' }].map(({ name }) => name),
    },
  ],
  example: { run: 'ledger-gateway help exit-codes' },
}

/** What every command takes. */
export const commands: readonly Declaration[] = [...others, helpDeclaration]

/** Prints the help of a command or of a topic. */
export const help: Command = {
  run: async (process, words) => {
    const [name] = asksForHelp(words) ? ['help'] : words
    const text = name === undefined ? overview() : textOf(name)
    if (text === undefined) return refuseName(process, name, 'neither a command nor a topic')
    process.stdout(text)
    return done
  },
}

function textOf(name: string): string | undefined {
  const declaration = commands.find((command) => command.name === name)
  if (declaration !== undefined) return helpText(declaration)
  if (name === 'topics') return `${topicTable()}\n`
  return topics.find((topic) => topic.name === name)?.text
}

/** The answer to no command, an unknown one, or a flag in its place. */
export function usage(name: string | undefined): Command['run'] {
  return async (process: ProcessIo) => {
    if (name === '--help' || name === '-h') {
      process.stdout(overview())
      return done
    }
    if (name === '--version' || name === '-v') {
      process.stdout(`${programVersion()}\n`)
      return done
    }
    if (name !== undefined) return refuseName(process, name, 'no command')
    process.stderr(overview())
    return misused
  }
}

function refuseName(process: ProcessIo, name = '', isNot: string): number {
  const isTopic = isNot !== 'no command'
  const further = isTopic ? topics.map((topic) => topic.name) : ['--help', '--version']
  const meant = nearest(name, [...commands.map((command) => command.name), ...further])
  const asked = meant === undefined ? '' : `; did you mean ${meant}?`
  process.stderr(`ledger-gateway: ${name} is ${isNot}${asked}\nTry: ledger-gateway help\n`)
  return misused
}

function overview(): string {
  return `Ledger Gateway: GraphQL with a live, resumable feed over a UTXO ledger.

Usage: ledger-gateway COMMAND [FLAGS]

${table(commands.map(({ name, summary }) => [name, summary]))}

The flags of a command: ledger-gateway COMMAND --help
More: ledger-gateway help TOPIC

${topicTable()}

The version of the program: ledger-gateway --version
`
}

function topicTable(): string {
  return table(topics.map(({ name, summary }) => [name, summary]))
}
