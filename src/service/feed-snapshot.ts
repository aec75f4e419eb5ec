import type { UpdateFilter } from '../feed/read.ts'
import type { ToldSnapshot } from '../feed/told.ts'
import { logEntries } from '../ledger/updates.ts'
import { assert, present } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import { Output } from '../protocol/outputs.ts'
import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import { decode } from '../protocol/schema/schema.ts'
import type { StoreReader } from '../store/contract.ts'
import type { LedgerUpdate, OutputRow, UpdateClass } from '../store/rows.ts'

/**
 * The outputs of some addresses that were unspent at a position of the log. Every part is read as of that position, from
 * what never changes any more: so the parts agree with each other and with what the feed tells next, whenever they are
 * read.
 */

/** What reading a snapshot needs. */
export interface FeedSnapshotDeps {
  readonly store: {
    readonly read: Pick<StoreReader, 'updates' | 'outputs' | 'milestone' | 'logTip'>
  }
  readonly parameters: { readonly minCommittableAge: number }
}

/** Where the snapshot is taken. */
export interface SnapshotPlace {
  readonly filter: UpdateFilter
  readonly position: number
}

/** The outputs by id, by address in the order of their creation, each once; the last piece is empty. */
export async function* readSnapshot(
  deps: FeedSnapshotDeps,
  { filter, position }: SnapshotPlace,
): AsyncGenerator<ToldSnapshot, void, undefined> {
  const moment = await momentOf(deps, filter, position)
  const told = new Set<OutputId>()
  for (const address of filter.addresses ?? []) {
    for await (const created of createdRows(deps, address, position)) {
      const rows = await deps.store.read.outputs(created)
      const rowById = new Map(rows.map((row) => [row.outputId, row]))
      const outputIds = created.filter((outputId) => {
        const row = present(rowById.get(outputId), `output ${outputId}`)
        if (told.has(outputId) || !moment.isUnspent(row)) return false
        return filter.classes.includes(classAt(deps, { row, address, slot: moment.slot }))
      })
      for (const outputId of outputIds) told.add(outputId)
      if (outputIds.length > 0) yield { kind: 'snapshot', position, outputIds, isLast: false }
    }
  }
  yield { kind: 'snapshot', position, outputIds: [], isLast: true }
}

/** What was so at a position. */
interface Moment {
  /** The milestone in which it lies, or behind which. */
  readonly slot: SlotIndex
  readonly isUnspent: (row: OutputRow) => boolean
}

async function momentOf(
  { store }: FeedSnapshotDeps,
  { addresses = [] }: UpdateFilter,
  position: number,
): Promise<Moment> {
  const { read } = store
  const tip = await read.logTip()
  const both = ['OWNED', 'MENTIONED'] as const
  const next = { after: position, before: position + 2, limit: 1, order: 'ascending' } as const
  const [row] = position < tip.seq ? await read.updates({ ...next, classes: both }) : []
  if (row === undefined) {
    const isUnspent = ({ spentSlot }: OutputRow) => spentSlot === undefined || spentSlot > tip.slot
    return { slot: tip.slot, isUnspent }
  }
  // The position may lie in the middle of a milestone, and then some of its spendings were still to come.
  const { firstSeq, lastSeq } = present(await read.milestone(row.milestoneIndex), 'its milestone')
  const rest = { after: position, before: lastSeq + 1, order: 'ascending' } as const
  const limit = lastSeq - position
  const later = await Promise.all(
    addresses.map((address) => read.updates({ ...rest, limit, address, classes: both })),
  )
  const spentLater = new Set(later.flatMap((rows) => spentIds(rows)))
  return {
    slot: position < firstSeq ? row.milestoneIndex - 1 : row.milestoneIndex,
    isUnspent: ({ spentSlot, outputId }) =>
      spentSlot === undefined ||
      spentSlot > row.milestoneIndex ||
      (spentSlot === row.milestoneIndex && spentLater.has(outputId)),
  }
}

function spentIds(rows: readonly LedgerUpdate[]): OutputId[] {
  return rows.flatMap(({ isSpent, outputId }) => (isSpent ? [outputId] : []))
}

/** What was created under an address up to a position, page by page. */
async function* createdRows(
  { store }: FeedSnapshotDeps,
  address: Hex,
  position: number,
): AsyncGenerator<readonly OutputId[], void, undefined> {
  const classes = ['OWNED', 'MENTIONED'] as const
  for (let after = 0; after < position; ) {
    const range = { after, before: position + 1, limit: rowsPerPiece, order: 'ascending' } as const
    const rows = await store.read.updates({ ...range, address, classes })
    const created = rows.filter(({ isSpent }) => !isSpent)
    if (created.length > 0) yield created.map(({ outputId }) => outputId)
    after = rows.length === rowsPerPiece ? (rows.at(-1)?.seq ?? position) : position
  }
}

const rowsPerPiece = 500

/** How an address stands to an output that it was created under; it may have passed to another owner by time alone. */
function classAt(
  { parameters }: FeedSnapshotDeps,
  { row, address, slot }: { row: OutputRow; address: Hex; slot: SlotIndex },
): UpdateClass {
  const output = decode(Output, row.bytes)
  assert(output.ok, 'a stored output decodes')
  const { outputId } = row
  const entries = logEntries(parameters, { outputId, output: output.value, isSpent: false, slot })
  return present(
    entries.find((entry) => entry.address === address),
    `role of ${address} in ${outputId}`,
  ).class
}
