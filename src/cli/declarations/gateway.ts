import { printFlag } from '../../config.ts'
import { keySettings, settings } from '../../settings.ts'
import { type Declaration, jsonFlag, urlFlag } from '../declaration.ts'

/** The commands that run a gateway or ask one. */

export const serveDeclaration: Declaration = {
  name: 'serve',
  summary: 'run the gateway',
  about: `Runs the gateway: the ledger, GraphQL with GraphiQL, the live feed and the REST routes.

Each setting is a flag, an environment variable, or a member of the settings file that --config
names; of these the first one that is given wins. A secret has no flag, for everybody on a machine
can read the command lines of its processes; its _FILE variable names a file that holds it.`,
  flags: [
    {
      name: printFlag,
      value: '',
      help: 'show the settings and where each comes from, and end',
    },
  ],
  settings: Object.values(settings),
  example: { run: 'ledger-gateway serve --port 4000 --database file:./data/ledger-gateway.db' },
}

export const configDeclaration: Declaration = {
  name: 'config',
  summary: 'check settings without starting anything',
  about: `Checks settings without starting anything: no port and no database is opened, and nothing is written.

A settings file holds the settings as JSON, by their names in docs/settings.md:

  {"port": 4001, "databaseUrl": "postgresql://user@host/ledger", "jwtSecretFile": "secret.txt"}

What ledger-gateway serve would use, and where it comes from: ledger-gateway serve --print-config`,
  words: [
    {
      name: 'VERB',
      help: 'check names all that is wrong in file, environment and flags, and in the files that they name; schema prints the JSON Schema of a settings file, for editors',
      choices: ['check', 'schema'],
    },
  ],
  settings: Object.values(settings),
  notes: 'The exit code of check is 0 where the settings are right, and 1 where they are not.',
  example: {
    run: 'ledger-gateway config check --port 4001',
    prints: 'The settings are right.',
  },
}

export const statusDeclaration: Declaration = {
  name: 'status',
  summary: 'show how a running gateway and its ledger stand',
  about: `Shows how a running gateway and its ledger stand: what /health/ready and the query status say. A
table on a terminal, JSON when piped.`,
  words: [{ name: 'URL', help: urlFlag.help, isOptional: true }],
  flags: [jsonFlag],
  notes:
    'The exit code is 0 where the gateway is healthy, and 1 where it is not, or does not answer.',
  example: {
    run: 'ledger-gateway status http://127.0.0.1:4000',
    prints: `  health                 healthy
  role                   writer, term 1
  mode                   embedded
  committed slot         65, which ended 2026-11-22T18:05:14.000Z
  current slot           68
  lag                    2 s
  blocks a second        0.00
  transactions a second  0.00
  addresses              12
  accounts               2
  unspent outputs        13
  base tokens            1813620509061365`,
  },
}

export const tokenDeclaration: Declaration = {
  name: 'token',
  summary: 'make a token, for setting chain records or submitting blocks',
  about: 'Makes a JSON Web Token and prints it alone on standard output, piped or not.',
  flags: [
    {
      name: 'scope',
      value: 'SCOPE',
      help: 'what it allows: chain-record:write (short: write), block:submit, operator',
      isRequired: true,
      isMany: true,
      choices: ['chain-record:write', 'block:submit', 'operator'],
    },
    {
      name: 'subject',
      value: 'NAME',
      help: 'whose it is; kept with every chain record it sets (operator)',
    },
    {
      name: 'expires',
      value: 'TIME',
      help: 'how long it is valid: a number and s, m, h or d (1d)',
    },
    { name: 'json', value: '', help: 'print what it says beside it, as JSON' },
  ],
  settings: keySettings,
  notes: `It is signed with the key of the gateway, so name the same database, key file or secret. For example:

  curl -X POST http://127.0.0.1:4000/v1/chains/CHAIN/chainrecord \\
    -H "Authorization: Bearer $(ledger-gateway token --scope write)" \\
    -H 'Content-Type: application/json' -d '{"accessNodes":[],"isActive":true}'`,
  example: { run: 'ledger-gateway token --scope block:submit --subject wallet --expires 12h' },
}

export const faucetDeclaration: Declaration = {
  name: 'faucet',
  summary: 'give base tokens of the development network to an address',
  about: 'Gives base tokens of the development network to an address, over a running gateway.',
  words: [{ name: 'ADDRESS', help: 'Bech32 text of the receiver' }],
  flags: [
    {
      name: 'amount',
      value: 'NUMBER',
      help: 'base tokens in the smallest unit (1000000000)',
    },
    urlFlag,
    jsonFlag,
  ],
  notes: `It prints the id of the transaction when it is booked. The faucet exists only where the ledger was
begun as the development network.`,
  example: {
    run: 'ledger-gateway faucet tst1qqv5avetndkxzgr3jtrswdtz5ze6mag20s0jdqvzk4fwezve8q9vkamkkx0 --amount 5000000',
    prints:
      'Sent 5000000 base tokens to tst1qqv5avetndkxzgr3jtrswdtz5ze6mag20s0jdqvzk4fwezve8q9vkamkkx0 in transaction 0x711870a83856f8bd11cb7feedbe665c8a1ab7ae4eaa5ad6c176317ec92da99aa44000000.',
  },
}

export const submitDeclaration: Declaration = {
  name: 'submit',
  summary: 'submit a block, and follow what becomes of it',
  about: `Submits a block to a running gateway and prints its id; with --wait also each state that it reaches. On a
terminal a line each, piped an object of JSON each.`,
  words: [
    {
      name: 'FILE',
      help: 'the block as JSON, as text 0x… or as bytes, or a payload as JSON, around which the node builds a block; - for standard input',
      isFile: true,
    },
  ],
  flags: [
    {
      name: 'wait',
      value: 'STATE',
      help: 'follow it until it is accepted, or committed (which is final)',
      choices: ['accepted', 'committed'],
    },
    {
      name: 'token-file',
      value: 'PATH',
      help: 'a token that may submit, where the gateway asks for one (SUBMIT=token)',
    },
    urlFlag,
    jsonFlag,
  ],
  notes: `A block that is refused is named with the code of the error and the place in the block. The exit code is
1 then, and with --wait also where the block was dropped or its transaction failed.`,
  example: { run: 'ledger-gateway submit block.json --wait accepted' },
}

export const feedDeclaration: Declaration = {
  name: 'feed',
  summary: 'follow the ledger updates of addresses as they are committed',
  about: `Follows the ledger updates of addresses, or of the whole ledger: a table that grows on a terminal, the events
of the feed as JSON, one a line, when piped (docs/feed.md). Each update has the amount of its output: + where it
was created, - where it was spent. It checks that none is missing or repeated.

When the connection is lost it connects again, as often as it takes, and resumes after the last cursor: it
says so in the table, and by another FeedOpened when piped. It ends when it is stopped.`,
  words: [
    { name: 'ADDRESS', help: 'Bech32 text; without one, all', isOptional: true, isMany: true },
  ],
  flags: [
    {
      name: 'after',
      value: 'CURSOR',
      help: 'begin behind this cursor; without it, with what is committed from now on',
    },
    urlFlag,
    jsonFlag,
  ],
  notes: `The exit code is 1 where the feed cannot go on: the gateway refuses it, the log was replaced or no longer
goes back to the cursor.`,
  example: {
    run: 'ledger-gateway feed tst1qqv5avetndkxzgr3jtrswdtz5ze6mag20s0jdqvzk4fwezve8q9vkamkkx0',
  },
}
