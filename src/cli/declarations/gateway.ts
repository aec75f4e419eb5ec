import { printFlag } from '../../config.ts'
import { keySettings, settings } from '../../settings.ts'
import { type Declaration, jsonFlag, urlFlag } from '../declaration.ts'

/** The commands that run a gateway or connect to one. */

export const serveDeclaration: Declaration = {
  name: 'serve',
  summary: 'run the gateway',
  about: `Runs the gateway: the ledger, GraphQL with GraphiQL, the live feed and the REST routes.

Each setting is a flag, an environment variable, or a member of the settings file that --config
names. A flag overrides the variable, and the variable overrides the file. Secrets have no flag,
because every user of a machine can read the command lines of its processes; the variable of a
secret with _FILE at its end names a file that contains the secret.`,
  flags: [
    {
      name: printFlag,
      value: '',
      help: 'print the settings and the source of each, and exit',
    },
  ],
  settings: Object.values(settings),
  example: { run: 'ledger-gateway serve --port 4000 --database file:./data/ledger-gateway.db' },
}

export const configDeclaration: Declaration = {
  name: 'config',
  summary: 'check settings without starting the gateway',
  about: `Checks settings without starting the gateway: no port and no database is opened, and nothing is written.

A settings file contains settings as JSON, by their names in docs/settings.md:

  {"port": 4001, "databaseUrl": "postgresql://user@host/ledger", "jwtSecretFile": "secret.txt"}

To print the settings that the gateway would use, and their sources: ledger-gateway serve --print-config`,
  words: [
    {
      name: 'VERB',
      help: 'check reports all problems in the settings file, the environment, the flags and the files that they name; schema prints the JSON Schema of a settings file, for editors',
      choices: ['check', 'schema'],
    },
  ],
  settings: Object.values(settings),
  notes: 'The exit code of check is 0 if the settings are valid, and 1 if they are not.',
  example: {
    run: 'ledger-gateway config check --port 4001',
    prints: 'The settings are valid.',
  },
}

export const statusDeclaration: Declaration = {
  name: 'status',
  summary: 'show the status of a running gateway and its ledger',
  about: `Shows the status of a running gateway and its ledger, from /health/ready and the query status. Prints a
table on a terminal, and JSON in a pipe.`,
  words: [{ name: 'URL', help: urlFlag.help, isOptional: true }],
  flags: [jsonFlag],
  notes:
    'The exit code is 0 if the gateway is healthy, and 1 if it is not healthy or does not answer.',
  example: {
    run: 'ledger-gateway status http://127.0.0.1:4000',
    prints: `  health                   healthy
  role                     writer, term 1
  mode                     embedded
  committed slot           65, which ended 2026-11-22T18:05:14.000Z
  current slot             68
  lag                      2 s
  blocks per second        0.00
  transactions per second  0.00
  addresses                12
  accounts                 2
  unspent outputs          13
  base tokens              1813620509061365`,
  },
}

export const tokenDeclaration: Declaration = {
  name: 'token',
  summary: 'create an access token, to set chain records or submit blocks',
  about: 'Creates a JSON Web Token and prints only the token on standard output, also in a pipe.',
  flags: [
    {
      name: 'scope',
      value: 'SCOPE',
      help: 'permission of the token: chain-record:write (short: write), block:submit or operator; may be repeated',
      isRequired: true,
      isMany: true,
      choices: ['chain-record:write', 'block:submit', 'operator'],
    },
    {
      name: 'subject',
      value: 'NAME',
      help: 'owner of the token; stored with every chain record that it sets (operator)',
    },
    {
      name: 'expires',
      value: 'TIME',
      help: 'lifetime of the token: a number of at most five digits followed by s, m, h or d (1d)',
    },
    { name: 'json', value: '', help: 'print the token and its claims as JSON' },
  ],
  settings: keySettings,
  notes: `The token is signed with the key of the gateway, so name the same database, key file or secret. For example:

  curl -X POST http://127.0.0.1:4000/v1/chains/CHAIN/chainrecord \\
    -H "Authorization: Bearer $(ledger-gateway token --scope write)" \\
    -H 'Content-Type: application/json' -d '{"accessNodes":[],"isActive":true}'`,
  example: { run: 'ledger-gateway token --scope block:submit --subject wallet --expires 12h' },
}

export const faucetDeclaration: Declaration = {
  name: 'faucet',
  summary: 'send base tokens of the development network to an address',
  about: 'Sends base tokens of the development network to an address, through a running gateway.',
  words: [{ name: 'ADDRESS', help: 'Bech32 address of the receiver' }],
  flags: [
    {
      name: 'amount',
      value: 'NUMBER',
      help: 'amount of base tokens in the smallest unit (1000000000)',
    },
    urlFlag,
    jsonFlag,
  ],
  notes: `Prints the transaction id once the transaction is booked. Only a gateway with an embedded
ledger of the development network has a faucet.`,
  example: {
    run: 'ledger-gateway faucet tst1qqv5avetndkxzgr3jtrswdtz5ze6mag20s0jdqvzk4fwezve8q9vkamkkx0 --amount 5000000',
    prints:
      'Sent 5000000 base tokens to tst1qqv5avetndkxzgr3jtrswdtz5ze6mag20s0jdqvzk4fwezve8q9vkamkkx0 in transaction 0x711870a83856f8bd11cb7feedbe665c8a1ab7ae4eaa5ad6c176317ec92da99aa44000000.',
  },
}

export const submitDeclaration: Declaration = {
  name: 'submit',
  summary: 'submit a block, and optionally follow its state',
  about: `Submits a block to a running gateway and prints its id; with --wait also each state that the block reaches.
Prints one line each on a terminal, and one JSON object each in a pipe.`,
  words: [
    {
      name: 'FILE',
      help: 'block as JSON, as hexadecimal text (0x…) or as bytes; or a payload as JSON, for which the node builds a block; - reads standard input',
      isFile: true,
    },
  ],
  flags: [
    {
      name: 'wait',
      value: 'STATE',
      help: 'follow the block until it is accepted or committed (final)',
      choices: ['accepted', 'committed'],
    },
    {
      name: 'token-file',
      value: 'PATH',
      help: 'file that contains a token, if the gateway requires one to submit (SUBMIT=token)',
    },
    urlFlag,
    jsonFlag,
  ],
  notes: `If the block is refused, the error code and the position in the block are printed, and the exit code is 1.
With --wait the exit code is also 1 if the block was dropped or its transaction failed.`,
  example: { run: 'ledger-gateway submit block.json --wait accepted' },
}

export const feedDeclaration: Declaration = {
  name: 'feed',
  summary: 'follow the ledger updates of addresses as they are committed',
  about: `Follows the ledger updates of addresses, or of the whole ledger. Prints a growing table on a terminal, and the
events of the feed as JSON, one per line, in a pipe (docs/feed.md). Each update shows the amount of its output:
+ if the output was created, - if it was spent. The command checks that no update is missing or repeated.

If the connection is lost, the command reconnects as often as needed and resumes after the last cursor. It then
prints a line in the table, or another FeedOpened event in a pipe. Standard error says that it waits for the
gateway. It runs until it is stopped.`,
  words: [
    {
      name: 'ADDRESS',
      help: 'Bech32 address; the whole ledger by default',
      isOptional: true,
      isMany: true,
    },
  ],
  flags: [
    {
      name: 'after',
      value: 'CURSOR',
      help: 'start after this cursor; by default with updates that are committed from now on',
    },
    urlFlag,
    jsonFlag,
  ],
  notes: `The exit code is 1 if the feed cannot continue: the gateway refuses it, the log was replaced, or the log no
longer contains the cursor.`,
  example: {
    run: 'ledger-gateway feed tst1qqv5avetndkxzgr3jtrswdtz5ze6mag20s0jdqvzk4fwezve8q9vkamkkx0',
  },
}
