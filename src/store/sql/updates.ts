import { present } from '../../lib/assert.ts'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Parameter, Rows } from '../database.ts'
import type { AddressPage, AddressPageQuery, LedgerUpdate, LogRange } from '../rows.ts'
import { classToNumber, noBranch } from '../values.ts'
import { createBranchMemory, type KnownBranches } from './branch-memory.ts'
import type { AddressScan, Dialect } from './bulk.ts'
import { ledgerUpdates } from './bulk-tables.ts'
import { hexOfText, selectedOf } from './columns.ts'
import {
  leftOf,
  memoized,
  partitionWith,
  type ScannedRange,
  scanLog,
  startOf,
  unlessGone,
  withTip,
} from './log-partitions.ts'
import { scanOfAddress } from './log-scans.ts'
import { branchAt, branchOfId, tipColumns, tipOf, tipTables } from './log-tip.ts'
import { logTable, publishedUpdates } from './published.ts'
import type { Reading } from './reading.ts'
import type { LogPartition } from './statements.ts'
import { quoted } from './tables.ts'

/**
 * Reads of rows of the log with their branches. Each scan is one statement that both databases understand. A page takes the branches of
 * its rows from a cache, because reading them takes a quarter of the time of its statement.
 */

/** Reads of the log. */
export interface LogReads {
  /** Reads rows of one address and class, in the order of their index. */
  ofAddress(
    range: LogRange & Required<Pick<LogRange, 'address'>>,
    updateClass: LedgerUpdate['class'],
  ): Promise<LedgerUpdate[]>
  /** Reads rows of all addresses, by position. */
  ofLog(range: LogRange): Promise<LedgerUpdate[]>
  /** Reads the rows at positions, in no order. */
  atSeqs(seqs: readonly number[]): Promise<LedgerUpdate[]>
  /** Reads a page of an address with its count, the facts about its cursors, and the tip, in one snapshot. */
  page(question: AddressPageQuery): Promise<AddressPage>
}

/** The reads of the log of a database. */
export function logReads(reading: Reading): LogReads {
  const { query, queryBoth, logForms, dialect } = reading
  const texts = textsOf(dialect)
  const memory = createBranchMemory()
  const branchesOf = `SELECT slot, ${branchOfId(dialect, 'id')} FROM commitments
    WHERE slot IN (SELECT slot FROM ${dialect.given([slotColumn])})`
  const given = `SELECT seq FROM ${dialect.given([seqColumn])}`
  const atSeqs = `SELECT ${anyColumns(dialect)} ${
    dialect.shards?.atPositions(given) ??
    `FROM ${publishedUpdates('ledger_updates')}
    WHERE seq IN (${given})`
  }`

  return {
    ofAddress: async ({ address, ...range }, updateClass) => {
      const key = [hexToBytes(address), classToNumber(updateClass)]
      const scan = {
        on: (table: string) => texts.of(table)[range.order].ofAddress,
        withTip: (table: string) => texts.withTip(table)[range.order].ofAddress,
        parameters: withBounds(key),
        isFirst: isFirstOfAddress,
      }
      const rows = await scanLog(reading, scan, range)
      return rows.map((row) => updateOf(row, address, updateClass, hexOfText(row[8])))
    },
    ofLog: async ({ classes, ...range }) => {
      const [first = -1, second = first] = classes.map(classToNumber)
      const scan = {
        on: (table: string) => texts.of(table)[range.order].ofLog,
        withTip: (table: string) => texts.withTip(table)[range.order].ofLog,
        parameters: withBounds([first, second]),
      }
      return (await scanLog(reading, scan, range)).map(anyUpdateOf)
    },
    atSeqs: async (seqs) => {
      if (seqs.length === 0) return []
      const json = dialect.json(
        [seqColumn],
        seqs.map((seq) => [seq]),
      )
      return (await query(atSeqs, [json])).map(anyUpdateOf)
    },
    page,
  }

  async function page(question: AddressPageQuery): Promise<AddressPage> {
    const { address, class: updateClass } = question
    const known = memory.known()
    const { head, rows } =
      (await askPartitions(question, known.slot)) ?? (await askLog(question, known.slot))
    const { foundBranch, ...rest } = head
    const branches = memory.settle(known, foundBranch, head.tip)
    // The database was replaced by one of another history since.
    if (!(await completed(branches, rows, known.slot))) return await page(question)
    return {
      ...rest,
      rows: rows.map((row) =>
        updateOf(
          row,
          address,
          updateClass,
          present(branches.bySlot.get(Number(row[3])), 'a branch'),
        ),
      ),
    }
  }

  async function askLog(question: AddressPageQuery, knownSlot: SlotIndex): Promise<FoundPage> {
    return foundPage(await ask(question, knownSlot, texts.heads(), logTable))
  }

  /** By the partition where the page begins, and the newest one for the count; `undefined` where these do not have all of it. */
  async function askPartitions(
    question: AddressPageQuery,
    knownSlot: SlotIndex,
  ): Promise<FoundPage | undefined> {
    const partition = partitionWith(logForms, startOf(logForms, question))
    const newest = partitionWith(logForms, logForms?.form().seq ?? 0)
    if (partition === undefined || newest === undefined) return undefined
    const table = quoted(partition.name)
    const heads = texts.heads({ newest: quoted(newest.name), page: table })
    const found = await unlessGone(ask(question, knownSlot, heads, table))
    if (found === undefined) return undefined
    const { head, rows } = foundPage(found)
    const tip = head.tip.seq
    const isCounted = tip < newest.to && head.count >= 0
    const left = leftOf(question, {
      ...{ partition, tip, rows, isFirst: isFirstOfAddress },
      prunedSeq: head.tip.prunedSeq,
    })
    if (!isCounted || left !== undefined) return undefined
    return head.hasRowsBehind || hasNoneBehind(question, partition, { head, rows })
      ? { head, rows }
      : undefined
  }

  function ask(
    { address, class: updateClass, order, cursors, ...range }: AddressPageQuery,
    knownSlot: SlotIndex,
    heads: PageHeads,
    table: string,
  ): Promise<Rows> {
    const key = [hexToBytes(address), classToNumber(updateClass)]
    const asked = [...withBounds(key)({ ...range, order }), knownSlot]
    const scan = texts.of(table)[order].ofPage
    return cursors === undefined
      ? queryBoth(heads.plain, scan, asked)
      : queryBoth(heads.atCursors, scan, [...asked, ...cursors.behind, ...cursors.seqs])
  }

  /**
   * Reads the branches of these rows that are not known up to the slot that was read again: others may have noted later ones since, of
   * another history. `false` where the history is another one than that of the rows.
   */
  async function completed(known: KnownBranches, rows: Rows, upTo: SlotIndex): Promise<boolean> {
    const missing = new Set<number>()
    for (const row of rows) {
      const slot = Number(row[3])
      const isProved = slot <= upTo || slot === known.slot
      if (!isProved || !known.bySlot.has(slot)) missing.add(slot)
    }
    if (missing.size === 0) return true
    const slots = [...missing, known.slot].map((slot) => [slot])
    const found = await query(branchesOf, [dialect.json([slotColumn], slots)])
    const read = found.map(([slot, branch]) => [Number(slot), hexOfText(branch)] as const)
    if (!read.some(([slot, branch]) => slot === known.slot && branch === known.branch)) return false
    for (const [slot, branch] of read) known.bySlot.set(slot, branch)
    return true
  }
}

const withBounds =
  (key: readonly Parameter[]) =>
  ({ after, before, limit }: ScannedRange): readonly Parameter[] => [...key, after, before, limit]

/** Whether a row in the order of `ownColumns` is the first of its address and class. Ordinals are dense and begin with 1. */
const isFirstOfAddress = ([, ordinal]: readonly unknown[]) => Number(ordinal) === 1

interface FoundPage {
  readonly head: PageHead
  readonly rows: Rows
}

function foundPage([first, ...rows]: Rows): FoundPage {
  return { head: headOf(first), rows }
}

/** Whether the page and its partition prove that no row lies behind the beginning of the page. */
function hasNoneBehind(
  { cursors, order }: AddressPageQuery,
  { from, to }: LogPartition,
  { head, rows }: FoundPage,
): boolean {
  const [first, last] = cursors?.behind ?? [1, 0]
  if (first > last || (first >= from && last < to)) return true
  const [row] = rows
  if (row === undefined) return false
  return order === 'ascending' ? isFirstOfAddress(row) : Number(row[1]) === head.count
}

/** Converts a row in the order of `ownColumns`. A literal, which is twice as fast as `rowOf`: most reads are pages of the log. */
function updateOf(
  [
    seq,
    ordinal,
    roles,
    milestoneIndex,
    isSpent,
    outputId,
    historyHash,
    balance,
  ]: readonly unknown[],
  address: Hex,
  updateClass: LedgerUpdate['class'],
  branch: Hex,
): LedgerUpdate {
  const { read } = ledgerUpdates
  return {
    seq: Number(seq),
    branch,
    address,
    class: updateClass,
    ordinal: Number(ordinal),
    roles: read.roles(roles),
    milestoneIndex: Number(milestoneIndex),
    outputId: read.outputId(outputId),
    isSpent: Boolean(isSpent),
    historyHash: hexOfText(historyHash),
    balance: read.balance(balance),
  }
}

/** Converts a row in the order of `anyColumns`. */
function anyUpdateOf(row: readonly unknown[]): LedgerUpdate {
  const { read } = ledgerUpdates
  return updateOf(row, read.address(row[9]), read.class(row[10]), hexOfText(row[8]))
}

/** First row of the result of a page: the page without its rows, and the branch of the slot that verifies the cached branches. */
interface PageHead extends Omit<AddressPage, 'rows'> {
  readonly foundBranch: Hex
}

/** Converts a row whose values are in the order of `headColumns`. */
function headOf(head: readonly unknown[] | undefined): PageHead {
  const values = present(head, 'genesis commitment')
  const [seq, prunedSeq, count, slot, isBehind, logId, commitmentId, texts] = values
  const branches = String(texts).match(branchText) ?? []
  const [prunedBranch, branch, foundBranch, ...ofCursors] = branches
  return {
    tip: tipOf({ seq, slot, prunedSeq, logId, commitmentId, branch, prunedBranch }),
    count: Number(count),
    hasRowsBehind: Boolean(isBehind),
    branches: ofCursors.map(hexOfText),
    foundBranch: hexOfText(foundBranch),
  }
}

const branchText = new RegExp(`.{${noBranch.length}}`, 'g')

/**
 * SQL columns of a row of the log. The same statement reads row and branch, so that the database cannot be replaced by one of another
 * history between two reads.
 */
function ownColumns(dialect: Dialect): string {
  return `${plainColumns(dialect)}, (SELECT ${branchOfId(dialect, 'id')} FROM commitments
    WHERE slot = "milestoneIndex") AS branch`
}

function plainColumns(dialect: Dialect): string {
  return selectedOf(dialect, ledgerUpdates, ownNames)
}

const ownNames = [
  ...['seq', 'ordinal', 'roles', 'milestoneIndex', 'isSpent', 'outputId', 'historyHash'],
  'balance',
]

/** SQL columns of a row of any address: `ownColumns`, address and class. */
function anyColumns(dialect: Dialect): string {
  return `${ownColumns(dialect)}, ${selectedOf(dialect, ledgerUpdates, ['address', 'class'])}`
}

const seqColumn = { name: 'seq', type: 'long' } as const
const slotColumn = { name: 'slot', type: 'int' } as const

/** SQL of a scan of the address and class in the first two parameters. */
function ofAddress(
  dialect: Dialect,
  table: string | undefined,
  scan: Omit<AddressScan, 'address' | 'class'>,
): string {
  return scanOfAddress(dialect, { table, address: '?1', class: '?2', ...scan })
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
  const known = `coalesce((SELECT ${branchOfId(dialect, 'id')} FROM commitments WHERE slot = ?6), '${noBranch}')`
  const branches = [tip.prunedBranch, tip.branch, known, ...ofCursors].join(' || ')
  return [...numbers, tip.logId, tip.commitmentId, branches].join(', ')
}

/** SQL of the first row of a page without cursors, and of a page at cursors. */
interface PageHeads {
  readonly plain: string
  readonly atCursors: string
}

/** Partitions that contain the newest rows, for the count, and the rows of the page. */
interface PageTables {
  readonly newest: string
  readonly page: string
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

/** Statements on the log and its partitions, each composed once. */
function textsOf(dialect: Dialect) {
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
