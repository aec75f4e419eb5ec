import { noBranch } from '../values.ts'
import type { AddressScan, Dialect } from './bulk.ts'
import { memoized, withTip } from './log-partitions.ts'
import { scanOfAddress } from './log-scans.ts'
import { branchAt, branchOfId, tipColumns, tipTables } from './log-tip.ts'
import { publishedUpdates } from './published.ts'
import { anyColumns, ownColumns, plainColumns } from './update-rows.ts'

/** Statements that read rows of the log, on its table or on its partitions. */

/** Statements of the reads of the log. */
export type LogTexts = ReturnType<typeof logTexts>

/** Creates the statements on the log and its partitions. Each is composed once. */
export function logTexts(dialect: Dialect) {
  const of = memoized((table: string) => ({
    ascending: scans(dialect, 'ASC', table),
    descending: scans(dialect, 'DESC', table),
  }))
  const headsWith = memoized((key: string) => {
    const [newest = '', page = ''] = key.split(' ')
    return headsOf(dialect, key === '' ? undefined : { newest, page })
  })
  const toTip = ({ ofAddress: own, ofLog: any }: ReturnType<typeof scans>) => ({
    ofAddress: withTip("0, 0, false, '', '', '', ''", own),
    ofLog: withTip("0, 0, false, '', '', '', '', '', 0", any),
  })
  return {
    of,
    withTip: memoized((table: string) => ({
      ascending: toTip(of(table).ascending),
      descending: toTip(of(table).descending),
    })),
    heads: (tables?: PageTables) =>
      headsWith(tables === undefined ? '' : `${tables.newest} ${tables.page}`),
  }
}

function scans(dialect: Dialect, order: 'ASC' | 'DESC', table: string) {
  const columns = ownColumns(dialect)
  const bounds = { from: '> ?3', to: '< ?4' } as const
  const within = ofAddress(dialect, table, { ...bounds, direction: order, limit: '?5' })
  const ofLog =
    dialect.shards?.ofLog({
      ...{ classes: ['?1', '?2'], after: '?3', before: '?4' },
      ...{ direction: order, limit: '?5' },
    }) ??
    `FROM ${publishedUpdates('ledger_updates', table)}
      WHERE class IN (?1, ?2) AND seq > ?3 AND seq < ?4 ORDER BY seq ${order} LIMIT ?5`
  return {
    ofAddress: `SELECT ${columns} ${within}`,
    ofPage: `SELECT ${plainColumns(dialect)} ${within}`,
    ofLog: `SELECT ${anyColumns(dialect)} ${ofLog}`,
  }
}

/** With partitions, the count is -1 if the newest partition has no row of the address. */
function headsOf(dialect: Dialect, tables: PageTables | undefined): PageHeads {
  const newest = `(SELECT ordinal ${ofAddress(dialect, tables?.newest, { direction: 'DESC', limit: '1' })})`
  const ofAll =
    dialect.shards?.count('?1', '?2') ??
    `coalesce(${newest},
    (SELECT ordinal FROM pruned_tips WHERE address = ?1 AND class = ?2), 0)`
  const count = tables === undefined ? ofAll : `coalesce(${newest}, -1)`
  const head = (behind: string, ofCursors: readonly string[]) =>
    `SELECT ${headColumns(dialect, count, behind, ofCursors)} ${tipTables}`
  const ofCursors = ['?9', '?10'].map((seq) => branchAt(dialect, seq))
  const between = ofAddress(dialect, tables?.page, {
    ...{ from: '>= ?7', to: '<= ?8' },
    ...{ direction: 'ASC', limit: '1' },
  })
  return {
    plain: head('false', []),
    // Not EXISTS: for it, PostgreSQL may scan the whole log until it finds a row.
    atCursors: head(`(SELECT seq ${between}) IS NOT NULL`, ofCursors),
  }
}

/** SQL of the first row of a page without cursors, and of a page at cursors. */
export interface PageHeads {
  readonly plain: string
  readonly atCursors: string
}

/** Partitions that contain the newest rows, for the count, and the rows of the page. */
interface PageTables {
  readonly newest: string
  readonly page: string
}

/** SQL of the first row of a page: the tip and the facts about the whole list, in columns of the same types as those of a row. */
function headColumns(
  dialect: Dialect,
  count: string,
  behind: string,
  ofCursors: readonly string[],
): string {
  const tip = tipColumns(dialect)
  const numbers = [tip.seq, tip.prunedSeq, count, tip.slot, behind]
  const known = `coalesce((SELECT ${branchOfId(dialect)} FROM commitments WHERE slot = ?6), '${noBranch}')`
  const branches = [tip.prunedBranch, tip.branch, known, ...ofCursors].join(' || ')
  return [...numbers, tip.logId, tip.commitmentId, branches].join(', ')
}

/** SQL of a scan of the address and class in the first two parameters. */
function ofAddress(
  dialect: Dialect,
  table: string | undefined,
  scan: Omit<AddressScan, 'address' | 'class'>,
): string {
  return scanOfAddress(dialect, { table, address: '?1', class: '?2', ...scan })
}
