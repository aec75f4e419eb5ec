import { assert } from '../../lib/assert.ts'
import { bytesToHex, hexToBytes } from '../../lib/hex.ts'
import type { Database } from '../database.ts'
import type { LedgerUpdate, LogRange } from '../rows.ts'
import { branchOf, classToNumber, idFromBytes, maskToRoles, numberToClass } from '../values.ts'
import type { BulkColumn } from './bulk.ts'
import { ledgerUpdates } from './bulk-tables.ts'

/** Rows of the log with their branches, each scan in one statement that both databases understand. */

/** Rows of one address and class, by the index of both. */
export async function scanOfAddress(
  ask: Database['query'],
  { address, after, before, limit, order }: LogRange & Required<Pick<LogRange, 'address'>>,
  updateClass: LedgerUpdate['class'],
): Promise<LedgerUpdate[]> {
  const { ofAddress } = statements[order]
  const key = [hexToBytes(address), classToNumber(updateClass)]
  return (await ask(ofAddress, [...key, after, before, limit])).map(rowOf)
}

/** Rows of all addresses, by position. */
export async function scanOfLog(
  ask: Database['query'],
  { classes, after, before, limit, order }: LogRange,
): Promise<LedgerUpdate[]> {
  const numbers = classes.map(classToNumber)
  const [first = -1, second = first] = numbers
  return (await ask(statements[order].ofLog, [first, second, after, before, limit])).map(rowOf)
}

/** In the order of `columns`; the databases differ in how they give whole numbers and truth. */
function rowOf([
  seq,
  address,
  updateClass,
  ordinal,
  roles,
  milestoneIndex,
  outputId,
  isSpent,
  historyHash,
  balance,
  commitmentId,
]: readonly unknown[]): LedgerUpdate {
  return {
    seq: Number(seq),
    branch: branchOf(idFromBytes(bytesOf(commitmentId))),
    address: bytesToHex(bytesOf(address)),
    class: numberToClass(Number(updateClass)),
    ordinal: Number(ordinal),
    roles: maskToRoles(Number(roles)),
    milestoneIndex: Number(milestoneIndex),
    outputId: idFromBytes(bytesOf(outputId)),
    isSpent: Boolean(isSpent),
    historyHash: bytesToHex(bytesOf(historyHash)),
    balance: typeof balance === 'string' ? BigInt(balance) : undefined,
  }
}

function bytesOf(value: unknown): Uint8Array {
  assert(value instanceof Uint8Array, 'ids, addresses and hashes are bytes')
  return value
}

/**
 * The branch in the statement of the row, so that the database of another history cannot be put in place between the two. The
 * balance as text, for it goes up to 2^64 - 1 and the driver of SQLite gives numbers.
 */
const columns = `${ledgerUpdates.columns.map(asRead).join(', ')},
  (SELECT id FROM commitments WHERE slot = "milestoneIndex") AS "commitmentId"`

function asRead({ name, type }: BulkColumn): string {
  return type === 'amount' ? `CAST("${name}" AS TEXT) AS "${name}"` : `"${name}"`
}

const statements = { ascending: scans('ASC'), descending: scans('DESC') }

function scans(order: 'ASC' | 'DESC') {
  const range = `seq > ? AND seq < ? ORDER BY seq ${order} LIMIT ?`
  return {
    ofAddress: `SELECT ${columns} FROM ledger_updates WHERE address = ? AND class = ? AND ${range}`,
    ofLog: `SELECT ${columns} FROM ledger_updates WHERE class IN (?, ?) AND ${range}`,
  }
}
