import { programVersion } from '../lib/version.ts'
import { type Command, done, misused, type ProcessIo, table } from './command.ts'

/** The list of commands, and what is said when none of them was named. */

/** A command in the list. Its code is loaded when the command runs, for some commands load the whole program. */
export interface ListedCommand {
  readonly name: string
  /** Without a capital, without a full stop. */
  readonly summary: string
  load(): Promise<Command>
}

/** Every command. */
export const commands: readonly ListedCommand[] = [
  {
    name: 'serve',
    summary: 'run the gateway',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'token',
    summary: 'make a token, for setting chain records or submitting blocks',
    load: async () => (await import('./token.ts')).token,
  },
  {
    name: 'faucet',
    summary: 'give base tokens of the development network to an address',
    load: async () => (await import('./faucet.ts')).faucet,
  },
  {
    name: 'demo',
    summary: 'show a transaction and its ledger updates on a temporary ledger',
    load: async () => (await import('./demo.ts')).demo,
  },
  {
    name: 'inspect',
    summary: 'describe blocks and other values, without a server',
    load: async () => (await import('./inspect.ts')).inspect,
  },
  {
    name: 'verify',
    summary: 'apply the rules of the ledger to transactions and other cases, without a server',
    load: async () => (await import('./verify.ts')).verify,
  },
  {
    name: 'status',
    summary: 'show how a running gateway and its ledger stand',
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'backup',
    summary: 'write a backup of a ledger while its gateway runs',
    load: async () => (await import('./backup.ts')).backup,
  },
  {
    name: 'restore',
    summary: 'make a ledger of a backup, in an empty database',
    load: async () => (await import('./restore.ts')).restore,
  },
  {
    name: 'check',
    summary: 'check the hashes, commitments, balances and counters of a ledger',
    load: async () => (await import('./check.ts')).check,
  },
  {
    name: 'export',
    summary: 'write a whole database as text, to be imported into another',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    name: 'import',
    summary: 'read a database that was exported, into an empty one',
    load: async () => (await import('./import.ts')).importCommand,
  },
  {
    name: 'snapshot',
    summary: 'write or check what a follower can begin with',
    load: async () => (await import('./snapshot.ts')).snapshot,
  },
  {
    name: 'rebuild-activity',
    summary: 'count anew what the query activity shows',
    load: async () => (await import('./rebuild-activity.ts')).rebuildActivity,
  },
  {
    name: 'help',
    summary: 'show this, or the help of a command',
    load: async () => help,
  },
]

const help: Command = {
  help: '',
  run: async (process, [name]) => {
    if (name !== undefined && named(name) === undefined) return usage(name)(process, [])
    const command = await named(name)?.load()
    process.stdout(command?.help || overview())
    return done
  },
}

/** The command of that name, or the answer to no name or an unknown one. */
export async function commandOf(name: string | undefined): Promise<Command['run']> {
  const command = await named(name)?.load()
  return command?.run ?? usage(name)
}

function named(name: string | undefined): ListedCommand | undefined {
  return commands.find((command) => command.name === name)
}

function usage(name: string | undefined): Command['run'] {
  return async (process: ProcessIo) => {
    if (name === '--help' || name === '-h') {
      process.stdout(overview())
      return done
    }
    if (name === '--version' || name === '-v') {
      process.stdout(`${programVersion()}\n`)
      return done
    }
    if (name !== undefined) process.stderr(`ledger-gateway: ${name} is no command\n\n`)
    process.stderr(overview())
    return misused
  }
}

function overview(): string {
  return `Ledger Gateway: GraphQL with a live, resumable feed over a UTXO ledger.

Usage: ledger-gateway COMMAND [FLAGS]

${table(commands.map(({ name, summary }) => [name, summary]))}

The flags of a command: ledger-gateway COMMAND --help
The version of the program: ledger-gateway --version
`
}
