import type { AddressScan, Dialect, RowsOfAddress, ShardedScans } from '../bulk.ts'
import { logTable, publishedSlot } from '../published.ts'
import { dialect } from './dialect.ts'

/**
 * SQL for a log on Citus (docs/decisions/047-citus.md), where it differs from one server. The rows of an address are in one shard.
 * Functions on the coordinator read the shards, so that no statement contains the table of the log: PostgreSQL runs the statement on the
 * tables of the coordinator, in one snapshot. The last parameters of the functions are the bounds of the log in that snapshot.
 */

/** Table with a mark for each shard: the position up to which the shard has all rows of the log. */
export const marksTable = 'log_shards'

/** Table with the newest row of each address and class, so that committing a slot queries no shard. */
export const tipsTable = 'log_tips'

/** SQL that reads the log in shards. */
const shards: ShardedScans = {
  ofAddress,

  ofLog: ({ classes, after, before, direction, limit }) =>
    `FROM log_between(${[
      ...[`ARRAY[${classes.map((one) => `${one}::int`).join(', ')}]`],
      ...[first(`> ${after}`), last(`< ${before}`), limit, direction === 'DESC', ...bounds],
    ].join(', ')}) AS ${logTable} ORDER BY seq ${direction}`,

  atPositions: (seqs) => `FROM log_at(ARRAY(${seqs}), ${bounds.join(', ')}) AS ${logTable}`,

  entry: ({ address, class: updateClass, first: from, last: to, outputId, isSpent }) =>
    `FROM log_entry(${[address, updateClass, from, to, outputId, isSpent, ...bounds].join(', ')}) AS found`,

  count: (address, updateClass) =>
    `coalesce((SELECT log_count(${[address, updateClass, publishedSlot, ...bounds].join(', ')})),
    (SELECT ordinal FROM pruned_tips WHERE address = ${address} AND class = ${updateClass}), 0)`,
}

/** Dialect for a log in shards. Its other statements are those of one server. */
export const shardedDialect: Dialect & { readonly shards: ShardedScans } = { ...dialect, shards }

function ofAddress({ name = logTable, address, class: updateClass, ...scan }: AddressScan): string {
  const { from = '>= 0', to = noUpperBound, direction, limit, offset } = scan
  const { isLastOfTransaction = false, where = 'true' } = scan
  const maxRows = offset === undefined ? limit : `${limit}::bigint + ${offset}`
  const skipped = offset === undefined ? '' : ` OFFSET ${offset}`
  const values = [address, updateClass, first(from), last(to), maxRows, direction === 'DESC']
  return `FROM log_of_address(${[...values, isLastOfTransaction, ...bounds].join(', ')}) AS ${name}
    WHERE ${where} ORDER BY ${name}.seq ${direction}${skipped}`
}

const noUpperBound = `<= ${Number.MAX_SAFE_INTEGER}` as const

/** SQL of the published tip and the last pruned position in the snapshot of the statement. */
const bounds = ['(SELECT seq FROM published_tip)', '(SELECT "prunedSeq" FROM published_tip)']

function first(from: NonNullable<RowsOfAddress['from']>): string {
  const [operator, ...value] = from.split(' ')
  return `(${value.join(' ')})::bigint${operator === '>' ? ' + 1' : ''}`
}

function last(to: NonNullable<RowsOfAddress['to']>): string {
  const [operator, ...value] = to.split(' ')
  return `(${value.join(' ')})::bigint${operator === '<' ? ' - 1' : ''}`
}

/**
 * Returns the functions on the coordinator, for a log that is in shards or not yet. They return whole rows, so a new column needs no
 * change of them. A null bound yields no row, as it does in a comparison. The address is compared for equality once, because Citus plans
 * such a statement once for all addresses. The class is compared together with the position, so that no other index has the order. A
 * function opens no transaction on the workers for a single read. For an address without rows, the table of tips answers and no shard
 * is queried.
 */
export function functionTexts(isSharded: boolean): readonly string[] {
  const ofAddress = `own.address = of_address
      AND (own.class, own.seq) >= (of_class, from_seq) AND (own.class, own.seq) <= (of_class, to_seq)`
  const isUnknown = `NOT EXISTS (SELECT FROM ${tipsTable} AS known
    WHERE known.address = of_address AND known.class = of_class)`
  const unless = isSharded ? `IF ${isUnknown} THEN RETURN; END IF;` : ''
  return [
    functionText(
      'log_of_address',
      'of_address bytea, of_class int, from_seq bigint, to_seq bigint, most bigint, is_descending boolean, only_last boolean',
      (direction) => `${ofAddress} AND (own."isLastOfTransaction" OR NOT only_last)
      ORDER BY own.class ${direction}, own.seq ${direction} LIMIT most`,
      `${clamped} ${unless}`,
    ),
    functionText(
      'log_between',
      'of_classes int[], from_seq bigint, to_seq bigint, most bigint, is_descending boolean',
      (direction) => `own.class = ANY (of_classes) AND own.seq >= from_seq AND own.seq <= to_seq
      ORDER BY own.seq ${direction} LIMIT most`,
      clamped,
    ),
    functionText(
      'log_at',
      'seqs bigint[]',
      () => 'own.seq = ANY (seqs) AND own.seq <= tip AND own.seq > pruned',
    ),
    functionText(
      'log_entry',
      'of_address bytea, of_class int, from_seq bigint, to_seq bigint, of_output bytea, spent boolean',
      () => `${ofAddress} AND own."outputId" = of_output AND own."isSpent" = spent LIMIT 1`,
      clamped,
    ),
    countText(isSharded),
  ]
}

/** Returns the function that counts the rows of an address and class. It queries a shard only if the newest row is not published yet. */
function countText(isSharded: boolean): string {
  const newest = `(SELECT own.ordinal FROM log_of_address(
    of_address, of_class, 0, tip, 1, true, false, tip, pruned) AS own)`
  const known = `(SELECT CASE WHEN known."milestoneIndex" <= tip_slot THEN known.ordinal ELSE ${newest} END
    FROM ${tipsTable} AS known WHERE known.address = of_address AND known.class = of_class)`
  return `CREATE OR REPLACE FUNCTION log_count(of_address bytea, of_class int, tip_slot bigint, tip bigint, pruned bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN ${isSharded ? known : newest};
END $$`
}

const clamped = `from_seq := from_seq + greatest(0, pruned + 1 - from_seq);
  to_seq := to_seq - greatest(0, to_seq - tip);`

function functionText(
  name: string,
  parameters: string,
  rows: (direction: 'ASC' | 'DESC') => string,
  before = '',
): string {
  const scan = (direction: 'ASC' | 'DESC') =>
    `RETURN QUERY SELECT own.* FROM ${logTable} AS own WHERE ${rows(direction)};`
  const body = parameters.includes('is_descending')
    ? `IF is_descending THEN ${scan('DESC')}
  ELSE ${scan('ASC')}
  END IF;`
    : scan('ASC')
  return `CREATE OR REPLACE FUNCTION ${name}(${parameters}, tip bigint, pruned bigint)
RETURNS SETOF ${logTable} LANGUAGE plpgsql SET citus.function_opens_transaction_block = off AS $$
BEGIN
  ${before}
  ${body}
END $$`
}
