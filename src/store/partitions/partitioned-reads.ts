import type { Database } from '../database.ts'
import type { PostgresqlReads } from '../postgresql/reads.ts'
import { partitionedText } from '../sql/postgresql/partitioned-texts.ts'
import type { LogForms } from './log-forms.ts'

/** Reads of a database whose log may be partitioned. */
export type PartitionedReads = Pick<
  Database,
  'query' | 'queryBoth' | 'snapshotConnection' | 'logForms'
>

/** Wraps reads so that they use the SQL texts for a partitioned log while the log is partitioned. */
export function partitionedReads(
  reads: Pick<PostgresqlReads, 'query' | 'queryBoth' | 'snapshotConnection'>,
  forms: LogForms,
): PartitionedReads {
  const texts = new Map<string, string>()

  /** Returns the text for the current form of the log. */
  function formed(sql: string): string {
    if (forms.form().partitions.length === 0) return sql
    const known = texts.get(sql)
    if (known !== undefined) return known
    const made = partitionedText(sql)
    if (texts.size < maxTexts) texts.set(sql, made)
    return made
  }

  return {
    logForms: forms,
    query: async (sql, parameters) => {
      const due = forms.settle()
      if (due !== undefined) await due
      return await reads.query(formed(sql), parameters)
    },
    queryBoth: async (first, second, parameters) => {
      const due = forms.settle()
      if (due !== undefined) await due
      return await reads.queryBoth(formed(first), formed(second), parameters)
    },
    snapshotConnection: () => {
      const connection = reads.snapshotConnection()
      return {
        ...connection,
        begin: async () => {
          const due = forms.settle()
          if (due !== undefined) await due
          await connection.begin()
        },
        query: (sql, parameters) => connection.query(formed(sql), parameters),
        queryBoth: (first, second, parameters) =>
          connection.queryBoth(formed(first), formed(second), parameters),
      }
    },
  }
}

/** Maximum number of cached texts: those of the program, and generated texts that name partitions. */
const maxTexts = 1_000
