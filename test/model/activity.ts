import { transactionOf } from '../../src/protocol/ids.ts'
import type { SlotIndex, TransactionId } from '../../src/protocol/primitives.ts'
import { epochOfSlot, slotStart } from '../../src/protocol/slots.ts'
import { ownerInSlot } from '../support/balance-model.ts'
import { isOfBlock, type Verdict } from './bookings.ts'
import type { Differences } from './differences.ts'
import type { LogRow } from './log.ts'
import type { AcceptedTransaction, Slots } from './slots.ts'
import type { BookedOutput, StoredLedger } from './stored-ledger.ts'
import type { TableRow, Tables } from './tables.ts'

/** The activity of slots, minutes, hours, days and epochs. */

/** The counts of a span. */
export interface ModelActivity {
  readonly slots: number
  readonly blocks: number
  readonly blockBytes: number
  readonly accepted: number
  readonly failed: number
  readonly updates: number
  readonly moved: bigint
  readonly burned: bigint
  readonly addresses: number
  readonly newAddresses: number
}

/** The spans of the table, in the order of their numbers. */
const spans = ['SLOT', 'MINUTE', 'HOUR', 'DAY', 'EPOCH'] as const
type Span = (typeof spans)[number]

/** The activity of a bucket, counted from all its slots. */
export function activityOf(model: ActivityInput, span: Span, bucket: number): ModelActivity {
  const { ledger, acceptedById, outputs, slots: priced, verdicts, rows } = model
  const { parameters, committed } = ledger
  const { genesisSlot, minCommittableAge: age } = parameters
  const slots: SlotIndex[] = []
  for (let slot = genesisSlot; slot <= committed; slot++) {
    if (bucketOf(ledger, span, slot) === bucket) slots.push(slot)
  }
  const isWithin = (slot: SlotIndex) => slots.includes(slot)
  const blocks = slots.flatMap((slot) => ledger.blocksOfSlot(slot))
  const accepted = [...acceptedById].filter(([, { slot }]) => isWithin(slot))
  const owner = ({ output }: BookedOutput, slot: SlotIndex) => ownerInSlot(output, slot, age)
  const moved = accepted.flatMap(([id, { slot }]) => {
    const inputs = outputs.filter(({ spentBy }) => spentBy === id)
    const senders = inputs.map((one) => owner(one, slot))
    return outputs.filter(
      (one) => transactionOf(one.outputId) === id && !senders.includes(owner(one, slot)),
    )
  })
  const own = rows.filter((row) => isWithin(row.milestoneIndex))
  const ownersIn = (some: readonly LogRow[]) =>
    new Set(some.filter((row) => row.class === 'OWNED').map(({ address }) => address))
  const [firstSlot = genesisSlot] = slots
  const former = ownersIn(rows.filter((row) => row.milestoneIndex < firstSlot))
  const failed = [...verdicts.values()].filter(
    ({ state, slot, reason }) => state === 'FAILED' && isWithin(slot) && !isOfBlock(reason),
  )
  const sum = (values: readonly bigint[]) => values.reduce((all, one) => all + one, 0n)
  return {
    slots: slots.length,
    blocks: blocks.length,
    blockBytes: blocks.reduce((bytes, { size }) => bytes + size, 0),
    accepted: accepted.length,
    failed: failed.length,
    updates: own.length,
    moved: sum(moved.map(({ output }) => output.amount)),
    burned: sum(blocks.map(({ workScore, slot }) => BigInt(workScore) * priced.priceOf(slot))),
    addresses: ownersIn(own).size,
    newAddresses: [...ownersIn(own)].filter((address) => !former.has(address)).length,
  }
}

/** What the activity is counted from. */
export interface ActivityInput {
  readonly ledger: StoredLedger
  readonly acceptedById: ReadonlyMap<TransactionId, AcceptedTransaction>
  readonly outputs: readonly BookedOutput[]
  readonly slots: Slots
  readonly verdicts: ReadonlyMap<string, Verdict>
  readonly rows: readonly LogRow[]
}

function bucketOf({ parameters }: StoredLedger, span: Span, slot: SlotIndex): number {
  if (span === 'SLOT') return slot
  if (span === 'EPOCH') return epochOfSlot(parameters, slot)
  const seconds = { MINUTE: 60, HOUR: 60 * 60, DAY: 24 * 60 * 60 }[span]
  return Math.floor(slotStart(parameters, slot) / seconds)
}

/** Compares the table, which must hold every span of the committed slots. */
export async function compareActivity(
  model: ActivityInput,
  tables: Tables,
  differ: Differences,
): Promise<void> {
  const { ledger } = model
  const actual = new Map<string, ModelActivity>()
  for (const row of await tables.rows('activity')) {
    actual.set(`${spans[row.number('resolution')]} ${row.number('bucket')}`, storedActivity(row))
  }
  const expected = new Map<string, ModelActivity>()
  for (const span of spans) {
    const all = [...ledger.commitments.keys()].map((slot) => bucketOf(ledger, span, slot))
    for (const bucket of new Set(all)) {
      expected.set(`${span} ${bucket}`, activityOf(model, span, bucket))
    }
  }
  differ.equalMaps('activity of', actual, expected)
}

function storedActivity(row: TableRow): ModelActivity {
  const amount = (name: string) => row.big(`${name}High`) * 10n ** 12n + row.big(`${name}Low`)
  return {
    slots: row.number('slots'),
    blocks: row.number('blocks'),
    blockBytes: row.number('blockBytes'),
    accepted: row.number('accepted'),
    failed: row.number('failed'),
    updates: row.number('updates'),
    moved: amount('moved'),
    burned: amount('burned'),
    addresses: row.number('addresses'),
    newAddresses: row.number('newAddresses'),
  }
}
