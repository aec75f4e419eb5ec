import { nearest } from '../lib/nearest.ts'
import { programVersion } from '../lib/version.ts'
import {
  type Command,
  done,
  misused,
  type ProcessIo,
  refuse,
  requestsHelp,
  table,
} from './command.ts'
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

/** The help of the program, and the response to a missing or unknown command. */

/** Declarations of all commands but `help`, in the order of the help. */
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
  summary: 'show this list, or the help for a command or topic',
  about: 'Shows the list of commands, or the help for a command or topic.',
  words: [
    {
      name: 'NAME',
      help: 'command or topic to show; "topics" lists all topics',
      isOptional: true,
      choices: [...others, ...topics, { name: 'topics' }].map(({ name }) => name),
    },
  ],
  example: { run: 'ledger-gateway help exit-codes' },
}

export const commands: readonly Declaration[] = [...others, helpDeclaration]

/** Prints the help for a command or topic. */
export const help: Command = {
  run: async (process, words) => {
    const [name, ...more] = requestsHelp(words) ? ['help'] : words
    if (more.length > 0) return refuse(process, 'help', ['only one NAME is allowed'])
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

/** The response to a missing command, an unknown command, or a flag instead of a command. */
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
    if (name !== undefined) return refuseName(process, name, 'not a command')
    process.stderr(overview())
    return misused
  }
}

type NameProblem = 'not a command' | 'neither a command nor a topic'

function refuseName(process: ProcessIo, name = '', problem: NameProblem): number {
  const mayBeTopic = problem !== 'not a command'
  const others = mayBeTopic ? topics.map((topic) => topic.name) : ['--help', '--version']
  const similar = nearest(name, [...commands.map((command) => command.name), ...others])
  const hint = similar === undefined ? '' : `; did you mean ${similar}?`
  process.stderr(`ledger-gateway: ${name} is ${problem}${hint}\nTry: ledger-gateway help\n`)
  return misused
}

function overview(): string {
  return `Ledger Gateway: a GraphQL gateway with a live, resumable feed over a UTXO ledger.

Usage: ledger-gateway COMMAND [FLAGS]

${table(commands.map(({ name, summary }) => [name, summary]))}

Help for a command:  ledger-gateway COMMAND --help
Help for a topic:    ledger-gateway help TOPIC

${topicTable()}

Version:             ledger-gateway --version
`
}

function topicTable(): string {
  return table(topics.map(({ name, summary }) => [name, summary]))
}
