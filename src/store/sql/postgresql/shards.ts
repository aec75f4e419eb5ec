import { assert } from '../../../lib/assert.ts'
import type { RawTx } from '../../client.ts'
import type { LogForms } from '../../partitions/log-forms.ts'
import { type BulkTable, bulkOf, jsonOf } from '../bulk.ts'
import { prunedTips, tipKeys } from '../bulk-tables.ts'
import type { LogTipRow, ShardStatements, TipRow } from '../statements.ts'
import { dialect } from './dialect.ts'
import { type OlderReaders, olderReaders } from './older-readers.ts'
import { marksTable, tipsTable } from './sharded-log.ts'

/** Statements of writing on a log in the shards of Citus (docs/decisions/047-citus.md). */

export function shardStatements(forms: LogForms): ShardStatements {
  /** Number of shards: 0 if the log is one table, `undefined` before the first call of `detect`. */
  let shards: number | undefined
  /** Last pruned position that this process saw, and the readers that may not know it: shards do not know of snapshots. */
  let hidden: { readonly seq: number; readonly older: OlderReaders } | undefined

  return {
    async detect(tx) {
      const [row] = await tx.$queryRawUnsafe<{ isSharded: boolean }[]>(isShardedText)
      shards = row?.isSharded === true ? ((await shardsOf(tx)) ?? 0) : 0
      if (shards > 0) await forms.settle(0)
      return shards > 0
    },

    isKnown: () => shards !== undefined,

    isOn: () => (shards ?? 0) > 0,

    tips: (tx, keys) => tx.$queryRawUnsafe<TipRow[]>(tipsText, jsonOf(dialect, tipKeys, keys)),

    putTips: async (tx, tips) => void (await bulkOf(dialect).put(tx, logTips, tips)),

    async mark(tx, former, last) {
      // Fewer marks mean that the shards have another history.
      const marked = await tx.$executeRawUnsafe(markText, BigInt(last), BigInt(former))
      assert(marked === shards, `all ${shards} shards have the log up to position ${former}`)
    },

    async areMarked(tx, seq) {
      const [row] = await tx.$queryRawUnsafe<{ count: bigint }[]>(markedText, BigInt(seq))
      return Number(row?.count) === shards
    },

    async hiddenUpTo(tx) {
      const [row] = await tx.$queryRawUnsafe<{ seq: bigint }[]>(
        'SELECT "prunedSeq" AS seq FROM published_tip',
      )
      return Number(row?.seq ?? 0)
    },

    async removeHidden(tx, prunedSeq, limit) {
      hidden ??= { seq: prunedSeq, older: await olderReaders(tx) }
      if ((await hidden.older.find(tx)) !== undefined) return
      const [row] = await tx.$queryRawUnsafe<{ seq: bigint | null }[]>(
        'SELECT min(seq) AS seq FROM ledger_updates',
      )
      const first = Number(row?.seq ?? hidden.seq + 1)
      const upTo = Math.min(hidden.seq, first + limit - 1)
      if (first <= upTo) await tx.$executeRawUnsafe(removeText, BigInt(upTo))
      if (upTo === hidden.seq) hidden = undefined
    },

    recover: async (tx) =>
      void (await tx.$queryRawUnsafe('SELECT recover_prepared_transactions()')),
  }
}

/** Reads whether the log is in shards. */
export const isShardedText = `SELECT to_regclass('${marksTable}') IS NOT NULL AS "isSharded"`

/** Reads the number of shards of the log; `undefined` if it is not in shards. */
export async function shardsOf(tx: RawTx): Promise<number | undefined> {
  const text = `SELECT count(*) AS count FROM pg_dist_shard WHERE logicalrelid = to_regclass('${marksTable}')`
  const [row] = await tx.$queryRawUnsafe<{ count: bigint }[]>(text)
  return row === undefined || row.count === 0n ? undefined : Number(row.count)
}

const columnCount = 5

const logTips: BulkTable<LogTipRow> = {
  name: tipsTable,
  keyLength: prunedTips.keyLength,
  columns: prunedTips.columns.slice(0, columnCount),
  valuesOf: (row) => prunedTips.valuesOf({ ...row, balance: undefined }).slice(0, columnCount),
}

const tipsText = `SELECT own.address, own.class, own.ordinal, own."historyHash", own."milestoneIndex"
  FROM ${tipsTable} AS own${dialect.matching({ name: 'own', columns: tipKeys.columns }, ',')}`

const removeText = 'DELETE FROM ledger_updates WHERE seq <= $1'

const markText = `UPDATE ${marksTable} SET seq = $1 WHERE seq = $2`

const markedText = `SELECT count(*) AS count FROM ${marksTable} WHERE seq = $1`
