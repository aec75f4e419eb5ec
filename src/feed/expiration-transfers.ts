import type { Hex } from '../lib/hex.ts'
import { addressKey } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { Output } from '../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import { decodeStored } from '../protocol/stored.ts'
import { AddressUnlock, Expiration } from '../protocol/unlock-conditions.ts'
import type { StoreReader } from '../store/contract.ts'
import type { LedgerUpdate, LogTip, OutputRow } from '../store/rows.ts'

/** Detects outputs that pass to their return address when they expire. The log has no row for this (ledger reference 13). */

/** A change of an output's owner by its expiration. */
export interface ExpirationTransfer {
  readonly outputId: OutputId
  /** Address bytes. */
  readonly from: Hex
  readonly to: Hex
  /** The first milestone in which the output belongs to the new owner. */
  readonly slot: SlotIndex
}

export interface ExpirationTransferDeps {
  readonly reader: Pick<StoreReader, 'dueOutputs' | 'outputs'>
  /** Number of slots before its expiration in which an output already belongs to its new owner. */
  readonly minCommittableAge: number
}

export interface ExpirationTransfers {
  /** The transfers in the milestones between two tips, given the rows between them. Most calls need no read. */
  between(
    former: LogTip,
    next: LogTip,
    rows: readonly LedgerUpdate[],
  ): Promise<readonly ExpirationTransfer[]>
  /** Makes the next call look ahead from a milestone again. Called when not all rows up to the milestone were read. */
  lookAheadFrom(slot: SlotIndex): void
  /** Removes the expected transfers. Called when the log was replaced. */
  clear(): void
}

/** Number of slots that one read looks ahead. */
const horizonSlots = 256

export function createExpirationTransfers({
  reader,
  minCommittableAge,
}: ExpirationTransferDeps): ExpirationTransfers {
  const expected = new Map<OutputId, ExpirationTransfer>()
  /** Last milestone for which the transfers of the existing outputs are known. */
  let knownUpTo = -1

  async function between(former: LogTip, next: LogTip, rows: readonly LedgerUpdate[]) {
    if (former.slot > knownUpTo) {
      // The first call, or a call after a long pause: earlier transfers are not announced.
      expected.clear()
      knownUpTo = former.slot
    }
    if (next.slot >= knownUpTo - horizonSlots / 2) await lookAhead(next.slot + horizonSlots)
    await watchNew(rows)
    const due = [...expected.values()].filter(({ slot }) => slot <= next.slot)
    if (due.length === 0) return []
    const transfers = await stillUnspent(reader, due)
    // Only after the reads: if one fails, the next call covers the same milestones again.
    for (const { outputId } of due) expected.delete(outputId)
    return transfers
  }

  async function lookAhead(upTo: SlotIndex): Promise<void> {
    const from = knownUpTo
    const outputs = await reader.dueOutputs(from + minCommittableAge, upTo + minCommittableAge)
    knownUpTo = upTo
    for (const row of outputs) expect(row)
  }

  /** Adds outputs that were booked since the last look-ahead and expire before the next look-ahead. */
  async function watchNew(rows: readonly LedgerUpdate[]): Promise<void> {
    const ids = rows.flatMap(({ isSpent, roles, outputId }) =>
      !isSpent && roles.includes('EXPIRATION_RETURN') ? [outputId] : [],
    )
    if (ids.length === 0) return
    for (const row of await reader.outputs([...new Set(ids)])) expect(row)
  }

  function expect(row: OutputRow): void {
    const transfer = transferOf(row, minCommittableAge)
    if (transfer === undefined || transfer.slot > knownUpTo) return
    expected.set(transfer.outputId, transfer)
  }

  function clear(): void {
    expected.clear()
    knownUpTo = -1
  }

  function lookAheadFrom(slot: SlotIndex): void {
    knownUpTo = Math.min(knownUpTo, slot)
  }

  return { between, lookAheadFrom, clear }
}

/** The transfer of an output with an expiration; `undefined` if its owner does not change after the output is booked. */
function transferOf(
  { outputId, bytes, bookedSlot }: OutputRow,
  minCommittableAge: number,
): ExpirationTransfer | undefined {
  const output = decodeStored(Output, bytes)
  let from: Hex | undefined
  let to: Hex | undefined
  let slot = 0
  for (const condition of output.unlockConditions) {
    if (is(AddressUnlock, condition)) from = addressKey(condition.address)
    if (!is(Expiration, condition)) continue
    to = addressKey(condition.returnAddress)
    slot = condition.slot - minCommittableAge
  }
  // An output that had already expired at its creation belonged to its return address from the start.
  if (from === undefined || to === undefined || from === to || slot <= bookedSlot) return undefined
  return { outputId, from, to, slot }
}

/** The transfers of outputs that were unspent when their owner changed. */
async function stillUnspent(
  reader: ExpirationTransferDeps['reader'],
  due: readonly ExpirationTransfer[],
): Promise<readonly ExpirationTransfer[]> {
  const rows = await reader.outputs(due.map(({ outputId }) => outputId))
  const spentById = new Map(rows.map(({ outputId, spentSlot }) => [outputId, spentSlot]))
  return due.filter(({ outputId, slot }) => {
    const spentSlot = spentById.get(outputId)
    return spentSlot === undefined || spentSlot > slot
  })
}
