import { type Command, done, misused, type Surroundings, table } from './command.ts'
import { demo } from './demo.ts'
import { exportCommand } from './export.ts'
import { faucet } from './faucet.ts'
import { importCommand } from './import.ts'
import { inspect } from './inspect.ts'
import { serve } from './serve.ts'
import { token } from './token.ts'
import { verify } from './verify.ts'

/** The list of commands, and what is said when none of them was named. */

const help: Command = {
  name: 'help',
  summary: 'show this, or the help of a command',
  help: '',
  run: async (process, [name]) => {
    const named = commands.find((command) => command.name === name && command.help !== '')
    process.stdout(named?.help ?? overview())
    return done
  },
}

/** Every command. */
export const commands: readonly Command[] = [
  serve,
  token,
  faucet,
  demo,
  inspect,
  verify,
  exportCommand,
  importCommand,
  help,
]

/** What is said to somebody who named no command, or an unknown one. */
export function usage(name: string | undefined): Command['run'] {
  return async (process: Surroundings) => {
    if (name === '--help' || name === '-h') {
      process.stdout(overview())
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
`
}
