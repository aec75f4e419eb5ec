import type { Hex } from '../../lib/hex.ts'
import type { LedgerUpdate } from '../rows.ts'
import type { Dialect } from './bulk.ts'
import { ledgerUpdates } from './bulk-tables.ts'
import { hexOfText, selectedOf } from './columns.ts'
import { branchOfId } from './log-tip.ts'

/** Columns of the log as its reads select them, and the conversion of their values. */

/**
 * SQL columns of a row of a known address and class, with its branch. The same statement reads row and branch, so that the database
 * cannot be replaced by one of another history between two reads.
 */
export function ownColumns(dialect: Dialect): string {
  return `${plainColumns(dialect)}, (SELECT ${branchOfId(dialect)} FROM commitments
    WHERE slot = "milestoneIndex") AS branch`
}

/** SQL columns of a row of a known address and class, without its branch. */
export function plainColumns(dialect: Dialect): string {
  return selectedOf(dialect, ledgerUpdates, ownNames)
}

const ownNames = [
  ...['seq', 'ordinal', 'roles', 'milestoneIndex', 'isSpent', 'outputId', 'historyHash'],
  'balance',
]

/** SQL columns of a row of any address: `ownColumns`, address and class. */
export function anyColumns(dialect: Dialect): string {
  return `${ownColumns(dialect)}, ${selectedOf(dialect, ledgerUpdates, ['address', 'class'])}`
}

/** Converts a row in the order of `ownColumns`. A literal, which is twice as fast as `rowOf`: most reads are pages of the log. */
export function updateOf(
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
export function anyUpdateOf(row: readonly unknown[]): LedgerUpdate {
  const { read } = ledgerUpdates
  return updateOf(row, read.address(row[9]), read.class(row[10]), hexOfText(row[8]))
}

/** Whether a row in the order of `ownColumns` is the first of its address and class. Ordinals are dense and begin with 1. */
export function isFirstOfAddress([, ordinal]: readonly unknown[]): boolean {
  return Number(ordinal) === 1
}
