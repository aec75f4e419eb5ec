import type { RawTx } from '../../client.ts'
import type { DistributionStep } from '../../contract/distribute.ts'
import { functionTexts, marksTable, tipsTable } from './sharded-log.ts'
import { shardsOf } from './shards.ts'

/** Statements that distribute the log over the workers of Citus (docs/decisions/047-citus.md). */

/** Returns the steps of the distribution in order. */
export function distributionSteps(shards: number): readonly DistributionStep[] {
  return [
    {
      about: 'Creates indexes that a log in shards supports, while others read and write.',
      runs: 'ALONE',
      isDone: hasShardKey,
      statements: [
        'DROP INDEX IF EXISTS ledger_updates_shard_key, ledger_updates_seq_idx',
        'CREATE UNIQUE INDEX CONCURRENTLY ledger_updates_shard_key ON ledger_updates (address, class, seq)',
        'CREATE INDEX CONCURRENTLY ledger_updates_seq_idx ON ledger_updates (seq)',
      ],
    },
    {
      about: 'Adds the distribution column to the primary key.',
      runs: 'LOCKED',
      isDone: hasShardKey,
      statements: [
        'ALTER TABLE ledger_updates DROP CONSTRAINT ledger_updates_pkey',
        `ALTER TABLE ledger_updates ADD CONSTRAINT ledger_updates_pkey
  PRIMARY KEY USING INDEX ledger_updates_shard_key`,
        'DROP INDEX IF EXISTS ledger_updates_address_class_seq_idx',
      ],
    },
    {
      about:
        'Creates functions that read the log wherever it is. Every gateway uses them before the log is in shards.',
      runs: 'KNOWN',
      isDone: isInShards,
      statements: [onCoordinator, ...functionTexts(false)],
    },
    {
      about: 'Moves the log into shards. Writes wait meanwhile, and the term of the writer ends.',
      runs: 'TOGETHER',
      isDone: isInShards,
      statements: [...beginning, ...besideLog, ...inShards(shards), ...ending],
    },
    {
      about: 'Frees the space of the rows that were moved into shards.',
      runs: 'LOCKED',
      statements: ["SELECT truncate_local_data_after_distributing_table('ledger_updates')"],
    },
    {
      about: 'Updates the statistics of the planner for the shards.',
      runs: 'ALONE',
      statements: ['ANALYZE ledger_updates', `ANALYZE ${tipsTable}`],
    },
  ]
}

/** Every writing transaction begins with the row of the lease, so the former holder does not write with its old statements. */
const beginning = [
  'SELECT term FROM writer FOR UPDATE',
  `UPDATE writer SET term = term + 1, holder = 'ledger-gateway distribute', until = 0`,
  // One connection per worker, so that later statements see what earlier ones wrote.
  `SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
  'SET LOCAL citus.shard_replication_factor = 1',
]

const besideLog = [
  `CREATE TABLE ${tipsTable} (
  address bytea NOT NULL,
  class integer NOT NULL,
  ordinal bigint NOT NULL,
  "historyHash" bytea NOT NULL,
  "milestoneIndex" bigint NOT NULL,
  PRIMARY KEY (address, class)
) WITH (fillfactor = 80)`,
  `INSERT INTO ${tipsTable}
SELECT DISTINCT ON (address, class) address, class, ordinal, "historyHash", "milestoneIndex" FROM (
  SELECT address, class, ordinal, "historyHash", "milestoneIndex" FROM ledger_updates
  UNION ALL SELECT address, class, ordinal, "historyHash", "milestoneIndex" FROM pruned_tips
) AS rows ORDER BY address, class, ordinal DESC`,
]

function inShards(shards: number): string[] {
  return [
    `SELECT create_distributed_table('ledger_updates', 'address', shard_count => ${shards}, colocate_with => 'none')`,
    `CREATE TABLE ${marksTable} (key bytea PRIMARY KEY, seq bigint NOT NULL)`,
    `SELECT create_distributed_table('${marksTable}', 'key', colocate_with => 'ledger_updates')`,
    // One key for each shard. The series has enough keys that every shard gets one.
    `INSERT INTO ${marksTable} (key, seq)
SELECT DISTINCT ON (get_shard_id_for_distribution_column('${marksTable}', key)) key,
  (SELECT "lastSeq" FROM commitments ORDER BY slot DESC LIMIT 1)
FROM (SELECT int4send(n) AS key FROM generate_series(1, ${100 * shards}) AS n) AS keys
ORDER BY get_shard_id_for_distribution_column('${marksTable}', key), key`,
    `DO $$ BEGIN
  ASSERT (SELECT count(*) FROM ${marksTable}) = ${shards}, 'each shard has a mark';
END $$`,
  ]
}

/** Creates the functions on the coordinator only. */
const onCoordinator = 'SET LOCAL citus.enable_ddl_propagation = off'

const ending = [onCoordinator, ...functionTexts(true), 'UPDATE published_tip SET "isApart" = true']

async function isInShards(tx: RawTx): Promise<boolean> {
  return (await shardsOf(tx)) !== undefined
}

async function hasShardKey(tx: RawTx): Promise<boolean> {
  const rows = await tx.$queryRawUnsafe<object[]>(
    `SELECT conname::text FROM pg_constraint WHERE conrelid = to_regclass('ledger_updates') AND contype = 'p'
      AND cardinality(conkey) = 3`,
  )
  return rows.length > 0
}

/** Reads the maximum number of prepared transactions of each worker. */
export const workersText = `SELECT result AS answer, success FROM run_command_on_workers('SHOW max_prepared_transactions')`

/** Returns why the workers cannot hold shards, or `undefined` if they can. */
export function workerProblem(
  workers: readonly { readonly answer: string; readonly success: boolean }[],
): string | undefined {
  if (workers.length === 0) return 'the coordinator has no worker (citus_add_node)'
  const lost = workers.find(({ success }) => !success)
  if (lost !== undefined) return lost.answer
  const none = workers.some(({ answer }) => Number(answer) === 0)
  return none ? 'max_prepared_transactions of a worker is 0' : undefined
}
