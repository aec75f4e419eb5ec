import { settings } from '../settings.ts'
import { exitCodes, settingTable, table } from './command.ts'

/** The topics of `ledger-gateway help`, besides the commands. */

export interface Topic {
  readonly name: string
  /** Description in the list of topics; lower case, without a full stop. */
  readonly summary: string
  readonly text: string
}

export const topics: readonly Topic[] = [
  {
    name: 'settings',
    summary: 'all settings of a gateway, as flags and variables',
    text: `Settings of ledger-gateway serve. Each setting is a flag or an environment variable; a flag overrides the
variable. Secrets have no flag, because every user of a machine can read the command lines of its processes.

${settingTable(Object.values(settings))}
`,
  },
  {
    name: 'exit-codes',
    summary: 'exit codes of the commands, for scripts',
    text: `${table(exitCodes.map(({ code, meaning }) => [String(code), meaning]))}

Errors are printed on standard error, one per line, after the name of the command. status exits with 1
if the gateway is not healthy, check if it found a problem, and submit if the block was refused or its
transaction failed.
`,
  },
  {
    name: 'addresses',
    summary: 'how addresses and identifiers are written',
    text: `ADDRESS is the Bech32 text of an address of the network: it starts with tst1 on the development network, and
with the prefix in the protocol parameters (bech32Hrp) on other networks. An address of another network is refused.

The keys of the development network are public. This is its first funded address:

  tst1qqv5avetndkxzgr3jtrswdtz5ze6mag20s0jdqvzk4fwezve8q9vkamkkx0

Identifiers are written as 0x and hexadecimal digits. Ids of blocks, transactions and commitments have 36 bytes
and end with their slot. Ids of outputs have 38 bytes. Ids of accounts, NFTs, anchors and delegations have 32 bytes.
`,
  },
  {
    name: 'output',
    summary: 'output formats: text on a terminal, JSON in a pipe',
    text: `On a terminal a command prints text. A command that takes longer than a second also shows its progress on
standard error, with the rate and the remaining time. In a pipe it prints JSON, one object per line, and no
progress. --json prints JSON on a terminal too.

Some commands print the same on a terminal and in a pipe: serve prints its URLs (its log on standard error has
one line of JSON per event; the event "serving" contains the URL), token prints only the token, export without
--file prints the export, and completion prints a script. config schema, and serve --print-config in a pipe, print
one indented object. inspect and verify answer input lines with JSON, and describe a file as text.
`,
  },
]
