import { databaseSettings, keySettings } from '../../settings.ts'
import { type Declaration, jsonFlag } from '../declaration.ts'

/** The commands that work on a database. */

export const backupDeclaration: Declaration = {
  name: 'backup',
  summary: 'write a backup of a ledger while its gateway runs',
  about: `Writes a consistent backup of a ledger; a gateway may keep writing meanwhile. The backup of a SQLite
database is a copy of its file, the backup of a PostgreSQL database is the text that ledger-gateway
export writes. The file appears only when it is complete. It contains no keys: the output lists the
keys to keep with it.`,
  words: [{ name: 'FILE', help: 'file to write', isFile: true }],
  flags: [{ name: 'force', value: '', help: 'replace an existing file' }, jsonFlag],
  settings: keySettings,
  notes: 'To restore the backup: ledger-gateway restore FILE',
  example: {
    run: 'ledger-gateway backup ledger.backup',
    prints:
      '/srv/ledger.backup is a backup of /srv/ledger-gateway.db, 319488 bytes.\nIt contains no keys. Keep with it: /srv/ledger-gateway.key',
  },
}

export const restoreDeclaration: Declaration = {
  name: 'restore',
  summary: 'restore a ledger from a backup into an empty database',
  about: `Restores a ledger from a backup into an empty database, with the tables of this version. The backup
is not changed, and may have been written by an earlier version.

The ledger gets a new log id, because the backup lacks everything that happened after it. Clients must read
the ledger again: a feed with a cursor of the former log ends with FeedReset, and a request for a page with
such a cursor is refused (CURSOR_OF_ANOTHER_LOG). To move a ledger that has stopped for good and keep its
cursors, use ledger-gateway export and import.

With --accept nothing is restored. Instead the command accepts a database that lacks data which its gateways
have already seen, such as after a failover to a standby that had not received everything (event
history-rewound in their logs). The ledger gets a new log id, and the gateways write again.`,
  words: [
    {
      name: 'FILE',
      help: 'file that ledger-gateway backup has written',
      isFile: true,
      isOptional: true,
    },
  ],
  flags: [
    { name: 'accept', value: '', help: 'accept the database as it is, with a new log id' },
    jsonFlag,
  ],
  settings: databaseSettings,
  notes:
    'Put the keys that the backup listed back in place. To check the ledger: ledger-gateway check',
  example: {
    run: 'ledger-gateway restore ledger.backup --database file:./restored.db',
    prints: '/srv/restored.db holds the ledger of /srv/ledger.backup, with a new log id.',
  },
}

export const checkDeclaration: Declaration = {
  name: 'check',
  summary: 'check the hashes, commitments, balances and counters of a ledger',
  about: `Checks a whole ledger as of one moment without changing it; a gateway may keep writing meanwhile. It checks:

  the log: every history hash, every position and the outputs
  every commitment: its id, its predecessor, its range of the log, its price and its roots, which are
    recomputed from the transactions of each slot; and the stored tries page by page
  the balance of every address against its unspent outputs
  the counters of unspent outputs, balance ranges, chains and activity

Memory: about 500 bytes for each address with a balance, and about 100 bytes for each unspent output.`,
  flags: [jsonFlag],
  settings: databaseSettings,
  notes: `Each finding is one line with its code and its location. The exit code is 0 if there are no findings, and 1
if there are findings or the check could not run.`,
  example: {
    run: 'ledger-gateway check',
    prints: 'No problems found up to slot 66.',
  },
}

const fileFlag = (help: string) => ({ name: 'file', value: 'PATH', help })

export const exportDeclaration: Declaration = {
  name: 'export',
  summary: 'export a whole database as text, to import it into another',
  about:
    'Exports a whole database as text, as of one moment; a gateway may keep writing meanwhile.',
  flags: [fileFlag('new file to write; standard output by default'), jsonFlag],
  settings: databaseSettings,
  notes: `To move a ledger from a SQLite file to a PostgreSQL server:

  ledger-gateway export --file ledger.export
  DATABASE_URL=postgresql://USER:PASSWORD@HOST:PORT/DATABASE \\
    ledger-gateway import --file ledger.export`,
  example: {
    run: 'ledger-gateway export --file ledger.export',
    prints: '/srv/ledger.export: 255 rows, 6711 per second',
  },
}

export const importDeclaration: Declaration = {
  name: 'import',
  summary: 'import an exported database into an empty one',
  about: `Imports an export of ledger-gateway export into an empty database, and checks the log of ledger
updates by its history hashes. An interrupted import continues where it stopped when the command is
run again with the same export. The gateway and the other commands refuse a database with an unfinished import.`,
  flags: [fileFlag('file to read; standard input by default'), jsonFlag],
  settings: databaseSettings,
  example: {
    run: 'ledger-gateway import --file ledger.export --database file:./imported.db',
    prints: '/srv/imported.db: 255 rows, 1250 per second',
  },
}

export const snapshotDeclaration: Declaration = {
  name: 'snapshot',
  summary: 'write or check a snapshot, from which a follower can start',
  about: `Writes or checks a snapshot: the ledger at the end of the newest slot. A gateway in upstream mode can start
from a snapshot (SNAPSHOT). A gateway may keep writing the database meanwhile.`,
  words: [
    { name: 'ACTION', help: 'write or check', choices: ['write', 'check'] },
    { name: 'FILE', help: 'new file to write, or file to check', isFile: true },
  ],
  flags: [jsonFlag],
  settings: databaseSettings,
  notes: `A check does not read a database. It finds damage, and compares the unspent outputs and the accounts with the
commitment of the slot. It does not check that the network has this commitment: a gateway that starts from the
snapshot does. Snapshot files of IOTA nodes (iota-core) can be checked as well.`,
  example: {
    run: 'ledger-gateway snapshot write ledger.snapshot',
    prints: '/srv/ledger.snapshot is a snapshot of slot 67.',
  },
}

export const partitionDeclaration: Declaration = {
  name: 'partition',
  summary: 'partition the log on PostgreSQL by position',
  about: `Partitions the log of ledger updates on PostgreSQL by ranges of positions, while gateways read and write it.
The existing table becomes the first partition. Its rows are not copied, but read once to check that they
fit. From then on the gateway creates the next partition ahead of time, and LOG_RETENTION drops whole
partitions. With --split the rows of a partition that is larger than requested are copied into smaller
partitions, which needs as much disk space again until it is done.

The command can be stopped and run again at any time; it continues where it stopped. Without --split it removes
the copies of an unfinished split. While one table replaces another, which takes some milliseconds, no other
session can read or write the log. The command waits for a moment at which no session has been reading the log
for longer than a second.`,
  flags: [
    {
      name: 'rows',
      value: 'N',
      help: 'positions per partition (the size of the newest partition, or 100000000)',
    },
    { name: 'split', value: '', help: 'copy larger partitions into smaller ones' },
    jsonFlag,
  ],
  settings: databaseSettings,
  notes: `SQLite has no partitions (PARTITIONS_NOT_SUPPORTED). If the log has a view, a publication or a trigger, the
command lists it and changes nothing (LOG_HAS_DEPENDENTS).`,
  example: {
    run: 'ledger-gateway partition --rows 1000000',
    prints:
      'The log is in 2 partitions; no session waited longer than 0 ms for it.\n  positions 1 to 1000000\n  positions 1000001 to 2000000',
  },
}

export const distributeDeclaration: Declaration = {
  name: 'distribute',
  summary: 'distribute the log over the workers of Citus',
  about: `Distributes the log of ledger updates over the workers of Citus by address. All other tables stay on the
coordinator, which DATABASE_URL names. Gateways can read meanwhile, but blocks are refused until the command is
done. The database must have the extension citus and know its workers (citus_add_node).

--dry-run prints the statements without running them. The log is changed in one transaction: it is either in
shards or unchanged. The change can be undone only with ledger-gateway export and import.`,
  flags: [
    { name: 'shards', value: 'N', help: 'number of shards (two per worker)' },
    { name: 'dry-run', value: '', help: 'print the statements without running them' },
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
  summary: 'recompute the activity statistics',
  about: `Recomputes the statistics of the query activity from the log of ledger updates and the blocks: blocks,
transactions, tokens and addresses per minute, hour, day and epoch. Periods that begin before the part of
the log that LOG_RETENTION keeps stay unchanged. Blocks that BLOCK_RETENTION has removed cannot be counted
again, so the command then changes nothing. No gateway may write the database meanwhile. If the command is
interrupted, the gateway completes the work when it starts.`,
  flags: [jsonFlag],
  settings: databaseSettings,
  example: {
    run: 'ledger-gateway rebuild-activity --database file:./restored.db',
    prints: '13 rows, 141 per second',
  },
}
