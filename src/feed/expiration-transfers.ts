import { assert } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import { addressKey } from '../protocol/ids.ts'
import { is } from '../protocol/is.ts'
import { Output } from '../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import { decode } from '../protocol/schema/schema.ts'
import { AddressUnlock, Expiration } from '../protocol/unlock-conditions.ts'
import type { StoreReader } from '../store/contract.ts'
import type { LedgerUpdate, LogTip, OutputRow } from '../store/rows.ts'

/** Notices when an output passes to its return address by time alone, for which the log has no row (ledger reference 13). */

/** An output has another owner from a milestone on. */
export interface ExpirationTransfer {
  readonly outputId: OutputId
  /** Address bytes. */
  readonly from: Hex
  readonly to: Hex
  /** The milestone in which the new owner is the owner. */
  readonly slot: SlotIndex
}

/** What noticing needs. */
export interface ExpirationTransferDeps {
  readonly reader: Pick<StoreReader, 'dueOutputs' | 'outputs'>
  /** In slots: so long before it expires an output is its new owner's. */
  readonly minCommittableAge: number
}

/** What is to come. */
export interface ExpirationTransfers {
  /** The transfers in the milestones between two tips, given the rows between them. Mostly reads nothing. */
  between(
    former: LogTip,
    next: LogTip,
    rows: readonly LedgerUpdate[],
  ): Promise<readonly ExpirationTransfer[]>
  /** Forgets what is to come: it is another log now. */
  clear(): void
}

/** Looks ahead so many slots at a time. */
const horizonSlots = 256

/** Nothing known yet. */
export function createExpirationTransfers({
  reader,
  minCommittableAge,
}: ExpirationTransferDeps): ExpirationTransfers {
  let coming: ExpirationTransfer[] = []
  /** Everything that comes up to and including this milestone, of outputs that were there, is known. */
  let knownUpTo = -1

  async function between(former: LogTip, next: LogTip, rows: readonly LedgerUpdate[]) {
    if (former.slot > knownUpTo) {
      // The first look, or one after a long pause: what lies behind is nobody's news.
      coming = []
      knownUpTo = former.slot
    }
    if (next.slot >= knownUpTo - horizonSlots / 2) await lookAhead(next.slot + horizonSlots)
    await watchNew(rows)
    const due = coming.filter(({ slot }) => slot <= next.slot)
    if (due.length === 0) return []
    const noticed = await stillUnspent(due)
    // Only now: after a read that fails the same milestones are looked at again.
    coming = coming.filter(({ slot }) => slot > next.slot)
    return noticed
  }

  async function lookAhead(upTo: SlotIndex): Promise<void> {
    const from = knownUpTo
    const outputs = await reader.dueOutputs(from + minCommittableAge, upTo + minCommittableAge)
    knownUpTo = upTo
    for (const row of outputs) expect(row)
  }

  /** Those that were booked after the look ahead, and are due before the next. */
  async function watchNew(rows: readonly LedgerUpdate[]): Promise<void> {
    const ids = rows.flatMap(({ isSpent, roles, outputId }) =>
      !isSpent && roles.includes('EXPIRATION_RETURN') ? [outputId] : [],
    )
    if (ids.length === 0) return
    for (const row of await reader.outputs([...new Set(ids)])) expect(row)
  }

  function expect(row: OutputRow): void {
    const transfer = transferOf(row)
    if (transfer === undefined || transfer.slot > knownUpTo) return
    if (!coming.some(({ outputId }) => outputId === transfer.outputId)) coming.push(transfer)
  }

  function transferOf({ outputId, bytes, bookedSlot }: OutputRow): ExpirationTransfer | undefined {
    const output = decode(Output, bytes)
    assert(output.ok, 'a stored output decodes')
    let from: Hex | undefined
    let to: Hex | undefined
    let slot = 0
    for (const condition of output.value.unlockConditions) {
      if (is(AddressUnlock, condition)) from = addressKey(condition.address)
      if (!is(Expiration, condition)) continue
      to = addressKey(condition.returnAddress)
      slot = condition.slot - minCommittableAge
    }
    // What was over when the output came was its new owner's from the first.
    if (from === undefined || to === undefined || from === to || slot <= bookedSlot)
      return undefined
    return { outputId, from, to, slot }
  }

  async function stillUnspent(
    due: readonly ExpirationTransfer[],
  ): Promise<readonly ExpirationTransfer[]> {
    const rows = await reader.outputs(due.map(({ outputId }) => outputId))
    const spentById = new Map(rows.map(({ outputId, spentSlot }) => [outputId, spentSlot]))
    return due.filter(({ outputId, slot }) => {
      const spentSlot = spentById.get(outputId)
      return spentSlot === undefined || spentSlot > slot
    })
  }

  function clear(): void {
    coming = []
    knownUpTo = -1
  }

  return { between, clear }
}
