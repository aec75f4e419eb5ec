import { databaseSettings, keySettings } from '../../settings.ts'
import { type Declaration, jsonFlag } from '../declaration.ts'

/** The commands that work on a database. */

export const backupDeclaration: Declaration = {
  name: 'backup',
  summary: 'write a backup of a ledger while its gateway runs',
  about: `Writes a backup of a ledger as of one moment; a gateway may go on writing meanwhile. Of SQLite it is
a copy of the database file, of PostgreSQL the text that ledger-gateway export writes. The file is
there only when it is whole. It holds no keys: the output names what to keep beside it.`,
  words: [{ name: 'FILE', help: 'where to write it', isFile: true }],
  flags: [{ name: 'force', value: '', help: 'replace a file that is there' }, jsonFlag],
  settings: keySettings,
  notes: 'To use it again: ledger-gateway restore FILE',
  example: {
    run: 'ledger-gateway backup ledger.backup',
    prints:
      '/srv/ledger.backup is a backup of /srv/ledger-gateway.db, 319488 bytes.\nIt holds no keys. Keep beside it: /srv/ledger-gateway.key',
  },
}

export const restoreDeclaration: Declaration = {
  name: 'restore',
  summary: 'make a ledger of a backup, in an empty database',
  about: `Makes a ledger of a backup, in an empty database, with the tables of this version. The backup is
only read, and may be that of an earlier version.

The ledger gets a new log id, for what happened after the backup is not in it: a feed that is open or
resumes with a cursor of the former log ends with FeedReset, a page is refused (CURSOR_OF_ANOTHER_LOG),
and both read the ledger anew. To move a ledger that has stopped for good without that, use
ledger-gateway export and import.

With --accept it restores nothing: it accepts a database that lacks what its gateways have seen, as after
a failover to a standby that had not received all (history-rewound in their log). The ledger gets a new
log id, and the gateways write again.`,
  words: [
    {
      name: 'FILE',
      help: 'what ledger-gateway backup has written',
      isFile: true,
      isOptional: true,
    },
  ],
  flags: [
    { name: 'accept', value: '', help: 'go on with the database as it is, as another log' },
    jsonFlag,
  ],
  settings: databaseSettings,
  notes: 'The keys that the backup named belong beside it again. To check it: ledger-gateway check',
  example: {
    run: 'ledger-gateway restore ledger.backup --database file:./restored.db',
    prints: '/srv/restored.db holds the ledger of /srv/ledger.backup, with a new log id.',
  },
}

export const checkDeclaration: Declaration = {
  name: 'check',
  summary: 'check the hashes, commitments, balances and counters of a ledger',
  about: `Checks a whole ledger as of one moment, and changes nothing; a gateway may go on writing meanwhile:

  every history hash and position of the log, and its outputs
  every commitment: its id, the one before it, its range of the log, its price and its roots,
    which are computed anew from what was booked in each slot; the kept tries page by page
  the balances of every address against its unspent outputs
  counters against what they count: unspent outputs, ranges of balances, chains, activity

Memory: some 500 bytes for each address that owns something, some 100 for each unspent output.`,
  flags: [jsonFlag],
  settings: databaseSettings,
  notes: `A line for each finding: its code, and where it is. The exit code is 0 where nothing was found, and 1
where something was, or the check could not be made.`,
  example: {
    run: 'ledger-gateway check',
    prints: 'Nothing is wrong up to slot 66.',
  },
}

const fileFlag = (help: string) => ({ name: 'file', value: 'PATH', help })

export const exportDeclaration: Declaration = {
  name: 'export',
  summary: 'write a whole database as text, to be imported into another',
  about:
    'Writes a whole database as text, as of one moment; a gateway may go on writing meanwhile.',
  flags: [fileFlag('a new file to write; standard output by default'), jsonFlag],
  settings: databaseSettings,
  notes: `From a file to a server:

  ledger-gateway export --file ledger.export
  DATABASE_URL=postgresql://USER:PASSWORD@HOST:PORT/DATABASE \\
    ledger-gateway import --file ledger.export`,
  example: {
    run: 'ledger-gateway export --file ledger.export',
    prints: '/srv/ledger.export: 255 rows, 6711 a second',
  },
}

export const importDeclaration: Declaration = {
  name: 'import',
  summary: 'read a database that was exported, into an empty one',
  about: `Reads what ledger-gateway export has written into an empty database, and checks the log of
ledger updates by its history hashes. An import that was interrupted goes on where it stopped when
it is given the same export again; until it has come to its end the gateway does not start on it.`,
  flags: [fileFlag('the file to read; standard input by default'), jsonFlag],
  settings: databaseSettings,
  example: {
    run: 'ledger-gateway import --file ledger.export --database file:./imported.db',
    prints: '/srv/imported.db: 255 rows, 1250 a second',
  },
}

export const snapshotDeclaration: Declaration = {
  name: 'snapshot',
  summary: 'write or check what a follower can begin with',
  about: `Writes what a gateway in upstream mode can begin with (SNAPSHOT), or checks it: the ledger at the end of
the newest slot. A gateway may go on writing the database meanwhile.`,
  words: [
    { name: 'ACTION', help: 'write or check', choices: ['write', 'check'] },
    { name: 'FILE', help: 'a new file to write, or the file to check', isFile: true },
  ],
  flags: [jsonFlag],
  settings: databaseSettings,
  notes: `A check reads no database. It finds damage, and whether the unspent outputs and the accounts are those
that the commitment of the slot stands for. Whether the network has that commitment is checked by who
begins with it. The snapshot file of a node of IOTA (iota-core) is checked as well.`,
  example: {
    run: 'ledger-gateway snapshot write ledger.snapshot',
    prints: '/srv/ledger.snapshot is a snapshot of slot 67.',
  },
}

export const partitionDeclaration: Declaration = {
  name: 'partition',
  summary: 'keep the log of PostgreSQL in partitions by position',
  about: `Turns the log of ledger updates on PostgreSQL into partitions by ranges of positions, while gateways read
and write it. The table that is there becomes the first partition, without a copy of its rows: they are
read once, to check that they fit. From then on the gateway makes the next partition ahead of time, and
LOG_RETENTION drops whole ones. With --split the rows of a partition that is larger than wanted are
copied into smaller ones, which needs as much room again until it is done.

It can be ended and called again at any time; it goes on where it stopped. Without --split it removes
what a split has copied. No other session can read or write the log while one table takes the place of another,
some milliseconds; it waits for that until no session has read the log for longer than a second.`,
  flags: [
    {
      name: 'rows',
      value: 'N',
      help: 'positions of a partition (those of the newest one, or 100000000)',
    },
    { name: 'split', value: '', help: 'copy larger partitions into smaller ones' },
    jsonFlag,
  ],
  settings: databaseSettings,
  notes: `SQLite has no partitions (PARTITIONS_NOT_SUPPORTED). A view, a publication or a trigger on the log is named
and not left behind (LOG_HAS_DEPENDENTS).`,
  example: {
    run: 'ledger-gateway partition --rows 1000000',
    prints:
      'The log is in 2 partitions; no session waited longer than 0 ms for it.\n  positions 1 to 1000000\n  positions 1000001 to 2000000',
  },
}

export const distributeDeclaration: Declaration = {
  name: 'distribute',
  summary: 'spread the log over the workers of Citus',
  about: `Spreads the log of ledger updates over the workers of Citus, by address; every other table stays on the
coordinator, which DATABASE_URL names. Gateways read meanwhile, and nothing is written until it is done:
blocks are refused. The database must have the extension citus and know its workers (citus_add_node).

--dry-run prints the statements and runs none. All that changes the log is one transaction: it is in
shards, or as it was. It is not taken back but by ledger-gateway export and import.`,
  flags: [
    { name: 'shards', value: 'N', help: 'how many shards (two for each worker)' },
    { name: 'dry-run', value: '', help: 'print the statements and run none' },
    jsonFlag,
  ],
  settings: databaseSettings,
  notes: `SQLite has no shards (SHARDS_NOT_SUPPORTED), and a log in partitions cannot have them (LOG_IN_PARTITIONS).`,
  example: {
    run: 'ledger-gateway distribute --shards 4',
    prints: 'The log is in 4 shards on 2 workers.',
  },
}

export const rebuildActivityDeclaration: Declaration = {
  name: 'rebuild-activity',
  summary: 'count anew what the query activity shows',
  about: `Counts what the query activity shows anew, from the log of ledger updates and the blocks: blocks,
transactions, tokens and addresses in each minute, hour, day and epoch. Spans that begin before the log
that LOG_RETENTION keeps stay as they are. No gateway may write the database meanwhile. When it
is interrupted, the next start of the gateway counts the rest.`,
  flags: [jsonFlag],
  settings: databaseSettings,
  example: {
    run: 'ledger-gateway rebuild-activity --database file:./restored.db',
    prints: '13 rows, 141 a second',
  },
}
