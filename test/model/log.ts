import {
  compareLogEntries,
  type LogEntry,
  logEntries,
  rolesToMask,
} from '../../src/ledger/updates.ts'
import { bytesToHex, type Hex } from '../../src/lib/hex.ts'
import { transactionOf } from '../../src/protocol/ids.ts'
import type { OutputId, SlotIndex, TransactionId } from '../../src/protocol/primitives.ts'
import { balancesAt, ownerInSlot } from '../support/balance-model.ts'
import type { Differences } from './differences.ts'
import { groupBy } from './lists.ts'
import { u32 } from './roots.ts'
import { type BookedOutput, bytesOf, type StoredLedger, sha256 } from './stored-ledger.ts'
import type { TableRow, Tables } from './tables.ts'

/** The log of ledger updates, written again from the booked outputs (design: the ledger is a log). */

/** A row of the log. */
export interface LogRow {
  readonly seq: number
  readonly address: Hex
  readonly class: 'OWNED' | 'MENTIONED'
  readonly ordinal: number
  /** A bit for each role. */
  readonly roles: number
  readonly milestoneIndex: SlotIndex
  readonly outputId: OutputId
  readonly isSpent: boolean
  readonly historyHash: Hex
  /** What the address owns at the end of the milestone; only for the class OWNED. */
  readonly balance: bigint | undefined
  readonly isLastOfTransaction: boolean
  /** The transaction that created or spent the output. */
  readonly transactionId: TransactionId
}

/** Writes the whole log. */
export function writeLog(ledger: StoredLedger, outputs: readonly BookedOutput[]): LogRow[] {
  const { parameters, committed } = ledger
  const rows: LogRow[] = []
  const ordinals = new Map<string, number>()
  const hashes = new Map<string, Uint8Array>()
  for (let slot = parameters.genesisSlot; slot <= committed; slot++) {
    const moved = movesOf(outputs, slot)
    if (moved.length === 0) continue
    const balances = balancesAt(outputs, slot, parameters.minCommittableAge)
    const entries = moved
      .flatMap(({ one, isSpent, transactionId }) =>
        logEntries(parameters, { ...one, isSpent, slot }).map((entry) => ({
          ...entry,
          transactionId,
        })),
      )
      .sort(compareLogEntries)
    const last = new Map(entries.map((entry, i) => [lastKey(entry), i]))
    for (const [i, { roles, ...entry }] of entries.entries()) {
      const { address, outputId, isSpent } = entry
      const key = `${entry.class} ${address}`
      const ordinal = (ordinals.get(key) ?? 0) + 1
      const before = hashes.get(key) ?? new Uint8Array(32)
      const hash = sha256(before, u32(slot), bytesOf(outputId), Uint8Array.of(isSpent ? 1 : 0))
      ordinals.set(key, ordinal)
      hashes.set(key, hash)
      const owned = entry.class === 'OWNED' ? (balances.get(address)?.total ?? 0n) : undefined
      rows.push({
        ...entry,
        ...{ seq: rows.length + 1, ordinal, roles: rolesToMask(roles), milestoneIndex: slot },
        ...{ historyHash: bytesToHex(hash), balance: owned },
        isLastOfTransaction: last.get(lastKey({ roles, ...entry })) === i,
      })
    }
  }
  return rows
}

function lastKey(entry: LogEntry & { readonly transactionId: TransactionId }): string {
  return `${entry.transactionId} ${entry.class} ${entry.address}`
}

interface Move {
  readonly one: BookedOutput
  readonly isSpent: boolean
  readonly transactionId: TransactionId
}

function movesOf(outputs: readonly BookedOutput[], slot: SlotIndex): Move[] {
  return outputs.flatMap((one) => {
    const created = { one, isSpent: false, transactionId: transactionOf(one.outputId) }
    const moves: Move[] = one.bookedSlot === slot ? [created] : []
    const { spentBy: transactionId } = one
    if (one.spentSlot === slot && transactionId !== undefined) {
      moves.push({ one, isSpent: true, transactionId })
    }
    return moves
  })
}

/** Compares the tables of the log. */
export async function compareLog(
  ledger: StoredLedger,
  outputs: readonly BookedOutput[],
  rows: readonly LogRow[],
  { tables, differ }: CompareLog,
): Promise<void> {
  const stored = await tables.rows('ledger_updates', 'seq')
  const actual = new Map(stored.map((row) => [`${row.number('seq')}`, storedRow(row)]))
  const expected = rows.map(({ transactionId: _, ...row }) => [`${row.seq}`, row] as const)
  differ.equalMaps('row of the log', actual, new Map(expected))
  let end = 0
  const countBySlot = groupBy(rows, (row) => row.milestoneIndex)
  for (const [slot, { range }] of ledger.commitments) {
    const count = countBySlot.get(slot)?.length ?? 0
    differ.equal(`range of milestone ${slot}`, range, [end + 1, end + count])
    end += count
  }
  await compareExpirations(ledger, outputs, { tables, differ })
}

/** What a comparison of the log needs. */
export interface CompareLog {
  readonly tables: Tables
  readonly differ: Differences
}

function storedRow(row: TableRow): Omit<LogRow, 'transactionId'> {
  return {
    seq: row.number('seq'),
    address: row.hex('address'),
    class: row.number('class') === 0 ? 'OWNED' : 'MENTIONED',
    ordinal: row.number('ordinal'),
    roles: row.number('roles'),
    milestoneIndex: row.number('milestoneIndex'),
    outputId: row.hex('outputId'),
    isSpent: row.flag('isSpent'),
    historyHash: row.hex('historyHash'),
    balance: row.isNull('balance') ? undefined : row.big('balance'),
    isLastOfTransaction: row.flag('isLastOfTransaction'),
  }
}

/** The totals of the addresses that gain or lose outputs because these expire, by slot. */
export function expirationsOf(
  { parameters, committed }: StoredLedger,
  outputs: readonly BookedOutput[],
): Map<SlotIndex, Map<Hex, bigint>> {
  const { minCommittableAge: age } = parameters
  const totals = new Map<SlotIndex, Map<Hex, bigint>>()
  for (let slot = parameters.genesisSlot + 1; slot <= committed; slot++) {
    // An output that is spent in the slot changes its owner before.
    const owned = outputs.filter((one) => one.bookedSlot < slot && (one.spentSlot ?? slot) >= slot)
    const owners = owned.flatMap(({ output }) => {
      const both = [slot - 1, slot].map((at) => ownerInSlot(output, at, age))
      return both[0] === both[1] ? [] : both
    })
    if (owners.length === 0) continue
    const balances = balancesAt(outputs, slot, age)
    totals.set(slot, new Map(owners.map((owner) => [owner, balances.get(owner)?.total ?? 0n])))
  }
  return totals
}

async function compareExpirations(
  ledger: StoredLedger,
  outputs: readonly BookedOutput[],
  { tables, differ }: CompareLog,
): Promise<void> {
  const expected = [...expirationsOf(ledger, outputs)].flatMap(([slot, totals]) =>
    [...totals].map(([owner, total]) => [`${owner} in slot ${slot}`, total] as const),
  )
  const rows = await tables.rows('expiration_transfers')
  const actual = rows.map(
    (row) => [`${row.hex('address')} in slot ${row.number('slot')}`, row.big('total')] as const,
  )
  differ.equalMaps('total after expirations of', new Map(actual), new Map(expected))
}
