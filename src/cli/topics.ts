import { settings } from '../settings.ts'
import { exitCodes, settingTable, table } from './command.ts'

/** What `ledger-gateway help` explains besides the commands. */

/** A topic of the help. */
export interface Topic {
  readonly name: string
  /** Without a capital, without a full stop. */
  readonly summary: string
  readonly text: string
}

/** Every topic. */
export const topics: readonly Topic[] = [
  {
    name: 'settings',
    summary: 'every setting of a gateway, as flag and variable',
    text: `Settings of ledger-gateway serve. Each is a flag or an environment variable; the flag wins. Those without
a flag are secrets, for every user of a machine can read the command lines of its processes.

${settingTable(Object.values(settings))}
`,
  },
  {
    name: 'exit-codes',
    summary: 'how a command ends, for scripts',
    text: `${table(exitCodes.map(({ code, meaning }) => [String(code), meaning]))}

What went wrong is one sentence a line on standard error, after the name of the command. status ends
with 1 where the gateway is not healthy, check where it found something, submit where the block was
refused or its transaction failed.
`,
  },
  {
    name: 'addresses',
    summary: 'how addresses and identifiers are written',
    text: `ADDRESS is the Bech32 text of an address of the network: tst1… on the development network, and what the
protocol parameters of another network say (bech32Hrp). An address of another network is refused.

Of the development network everybody has the keys. This is its first funded address:

  tst1qqv5avetndkxzgr3jtrswdtz5ze6mag20s0jdqvzk4fwezve8q9vkamkkx0

Identifiers are 0x and hexadecimal digits. Those of blocks, transactions and commitments have 36 bytes
and end with their slot, those of outputs have 38, those of accounts, NFTs, anchors and delegations 32.
`,
  },
  {
    name: 'output',
    summary: 'what is printed for people, and what for programs',
    text: `On a terminal a command prints lines for people, and shows on standard error how far it is, with rate and
time left, where it takes longer than a second. Piped, it prints JSON, one object a line, and nothing of
its progress; --json makes it do so on a terminal too.

Others print what they print, piped or not: serve its addresses (its log on standard error is a line of
JSON for each event, of which serving has the URL), token the token alone, export without --file the export, completion a script,
inspect and verify JSON for lines and a description for people of a file.
`,
  },
]
