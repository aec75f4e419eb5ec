import { present } from '../../lib/assert.ts'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { AddressPage, AddressPageQuery, LedgerUpdate, LogRange } from '../rows.ts'
import { classToNumber, noBranch } from '../values.ts'
import { createBranchMemory, type KnownBranches } from './branch-memory.ts'
import type { Dialect, RowsOfAddress } from './bulk.ts'
import { ledgerUpdates } from './bulk-tables.ts'
import { hexOfText, selectedOf } from './columns.ts'
import { branchAt, branchOfId, tipColumns, tipOf, tipTables } from './log-tip.ts'
import { publishedUpdates } from './published.ts'
import type { Reading } from './reading.ts'

/**
 * Rows of the log with their branches, each scan in one statement that both databases understand. A page takes the branches of its rows from
 * memory, for reading them is a quarter of its statement.
 */

/** Reads of the log. */
export interface LogReads {
  /** Rows of one address and class, by the index of both. */
  ofAddress(
    range: LogRange & Required<Pick<LogRange, 'address'>>,
    updateClass: LedgerUpdate['class'],
  ): Promise<LedgerUpdate[]>
  /** Rows of all addresses, by position. */
  ofLog(range: LogRange): Promise<LedgerUpdate[]>
  /** The rows at some positions, in no order. */
  atSeqs(seqs: readonly number[]): Promise<LedgerUpdate[]>
  /** A page of an address with its count, its cursors and the tip, as of one moment. */
  page(question: AddressPageQuery): Promise<AddressPage>
}

/** The reads of the log of a database. */
export function logReads({ query, queryBoth, dialect }: Reading): LogReads {
  const texts = { ascending: scans(dialect, 'ASC'), descending: scans(dialect, 'DESC') }
  const heads = headsOf(dialect)
  const memory = createBranchMemory()
  const branchesOf = `SELECT slot, ${branchOfId(dialect, 'id')} FROM commitments
    WHERE slot IN (SELECT slot FROM ${dialect.given([slotColumn])})`
  const atSeqs = `SELECT ${anyColumns(dialect)} FROM ${publishedUpdates('ledger_updates')}
    WHERE seq IN (SELECT seq FROM ${dialect.given([seqColumn])})`

  return {
    ofAddress: async ({ address, after, before, limit, order }, updateClass) => {
      const key = [hexToBytes(address), classToNumber(updateClass)]
      const rows = await query(texts[order].ofAddress, [...key, after, before, limit])
      return rows.map((row) => updateOf(row, address, updateClass, hexOfText(row[8])))
    },
    ofLog: async ({ classes, after, before, limit, order }) => {
      const [first = -1, second = first] = classes.map(classToNumber)
      return (await query(texts[order].ofLog, [first, second, after, before, limit])).map(
        anyUpdateOf,
      )
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
    const { address, class: updateClass, after, before, limit, order, cursors } = question
    const known = memory.known()
    const asked = [hexToBytes(address), classToNumber(updateClass), after, before, limit]
    const scan = texts[order].ofPage
    const [first, ...rows] = await (cursors === undefined
      ? queryBoth(heads.plain, scan, [...asked, known.slot])
      : queryBoth(heads.atCursors, scan, [
          ...asked,
          known.slot,
          ...cursors.behind,
          ...cursors.seqs,
        ]))
    const { foundBranch, ...head } = headOf(first)
    const branches = memory.settle(known, foundBranch, head.tip)
    // The database was replaced by one of another history since.
    if (!(await completed(branches, rows, known.slot))) return await page(question)
    return {
      ...head,
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

type Rows = readonly (readonly unknown[])[]

/** In the order of `ownColumns`. A literal, which is twice as fast as `rowOf`: a page of the log is most of what is read. */
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

/** In the order of `anyColumns`. */
function anyUpdateOf(row: readonly unknown[]): LedgerUpdate {
  const { read } = ledgerUpdates
  return updateOf(row, read.address(row[9]), read.class(row[10]), hexOfText(row[8]))
}

/** The first row of a page: all of it but its rows, and the branch of the slot that is read again. */
interface PageHead extends Omit<AddressPage, 'rows'> {
  readonly foundBranch: Hex
}

/** In the order of `headColumns`. */
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
 * The columns of a row. The branch in the statement of the row, so that the database of another history cannot be put in place
 * between the two.
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

/** Those of a row of any address. */
function anyColumns(dialect: Dialect): string {
  return `${ownColumns(dialect)}, ${selectedOf(dialect, ledgerUpdates, ['address', 'class'])}`
}

const seqColumn = { name: 'seq', type: 'long' } as const
const slotColumn = { name: 'slot', type: 'int' } as const

/** Of the address and the class that are the first parameters. */
function ofAddress(dialect: Dialect, bounds: Pick<RowsOfAddress, 'from' | 'to'> = {}): string {
  const rows = { address: '?1', class: '?2', ...bounds }
  return `FROM ${publishedUpdates('ledger_updates')} WHERE ${dialect.ofAddress(rows)}`
}

/** The first row of a page: the tip and what concerns the whole list, in columns of the types that a row has. */
function headColumns(dialect: Dialect, behind: string, ofCursors: readonly string[]): string {
  const tip = tipColumns(dialect)
  const count = `coalesce((SELECT ordinal ${ofAddress(dialect)} ORDER BY ${dialect.byPosition('DESC')} LIMIT 1),
    (SELECT ordinal FROM pruned_tips WHERE address = ?1 AND class = ?2), 0)`
  const numbers = [tip.seq, tip.prunedSeq, count, tip.slot, behind]
  const known = `coalesce((SELECT ${branchOfId(dialect, 'id')} FROM commitments WHERE slot = ?6), '${noBranch}')`
  const branches = [tip.prunedBranch, tip.branch, known, ...ofCursors].join(' || ')
  return [...numbers, tip.logId, tip.commitmentId, branches].join(', ')
}

function headsOf(dialect: Dialect) {
  const head = (behind: string, ofCursors: readonly string[]) =>
    `SELECT ${headColumns(dialect, behind, ofCursors)} ${tipTables}`
  const ofCursors = ['?9', '?10'].map((seq) => branchAt(dialect, seq))
  const between = ofAddress(dialect, { from: '>= ?7', to: '<= ?8' })
  return {
    plain: head('false', []),
    // Not EXISTS, for which PostgreSQL may read the whole log until it finds a row.
    atCursors: head(
      `(SELECT seq ${between} ORDER BY ${dialect.byPosition('ASC')} LIMIT 1) IS NOT NULL`,
      ofCursors,
    ),
  }
}

function scans(dialect: Dialect, order: 'ASC' | 'DESC') {
  const columns = ownColumns(dialect)
  const within = ofAddress(dialect, { from: '> ?3', to: '< ?4' })
  return {
    ofAddress: `SELECT ${columns} ${within} ORDER BY ${dialect.byPosition(order)} LIMIT ?5`,
    ofPage: `SELECT ${plainColumns(dialect)} ${within} ORDER BY ${dialect.byPosition(order)} LIMIT ?5`,
    ofLog: `SELECT ${anyColumns(dialect)} FROM ${publishedUpdates('ledger_updates')}
      WHERE class IN (?1, ?2) AND seq > ?3 AND seq < ?4 ORDER BY seq ${order} LIMIT ?5`,
  }
}
