import { err, type Result } from '../../lib/result.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { Between, PageOrder, Position } from '../../store/list-contract.ts'
import type { UnspentFilter } from '../../store/view-contract.ts'
import { type OutputView, viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type KeysetPage,
  type MilestoneBounds,
  type PageArguments,
  type Placed,
  partOfSlots,
  readKeysetPage,
} from './keyset-page.ts'
import type { FilteredListError } from './list-blocks.ts'

/** Outputs, spent or not, page by page. */

/** Conditions that are kept of unspent outputs alone. */
export type UnspentConditions = Omit<UnspentFilter, 'asOf' | 'kinds' | 'created'>

/** What outputs must fulfil, all of it. */
export interface OutputListFilter extends MilestoneBounds {
  /** Left out: both. */
  readonly isSpent?: boolean | null | undefined
  /** Type codes. */
  readonly kinds?: readonly number[] | null | undefined
  readonly conditions: UnspentConditions
  /** Those of the conditions that are given, as the caller calls them. */
  readonly conditionNames: readonly string[]
}

/** A page of outputs. */
export type OutputPage = KeysetPage<Placed<OutputView>>

/** Conditions that are kept of unspent outputs alone, asked of others. */
export interface FilterNeedsUnspent {
  readonly code: 'FILTER_NEEDS_UNSPENT'
  /** The names of the conditions. */
  readonly members: string
}

/** Why a page was refused. */
export type ListOutputsError = FilteredListError | FilterNeedsUnspent

/** Outputs by the slot they were booked in and by id; those that are spent, by the slot they were spent in. */
export async function listOutputs(
  { store }: Pick<Services, 'store'>,
  filter: OutputListFilter,
  page: PageArguments,
): Promise<Result<OutputPage, ListOutputsError>> {
  const refused = refusalOf(filter)
  if (refused !== undefined) return err(refused)
  const whole = partOfSlots(filter, ['0x'])
  if (!whole.ok) return whole
  const isSpent = filter.isSpent === true
  const list = {
    cursors: isSpent ? spentCursors : outputCursors,
    whole: whole.value,
    positionOf: ({ outputId, bookedSlot, spentSlot = 0 }: OutputView) => [
      isSpent ? spentSlot : bookedSlot,
      outputId,
    ],
    read: async (part: Between, order: PageOrder) =>
      (await readRows(store, filter, part, order)).map(viewOfOutput),
  }
  return await readKeysetPage(list, page)
}

async function readRows(
  { read }: Services['store'],
  { isSpent, kinds, conditions }: OutputListFilter,
  part: Between,
  page: PageOrder,
) {
  if (isSpent === false) {
    const filter = { ...conditions, asOf: 'BOOKED', kinds: kinds ?? undefined } as const
    const [after, before] = [placeOf(part.above), placeOf(part.below)]
    return await read.unspentOutputs({ filter, after, before, ...page })
  }
  const where = isSpent === true ? 'SPENT' : { kinds: kinds ?? undefined }
  return (await read.outputPages([{ ...part, where }], page)).flat()
}

function placeOf([slot, id]: Position) {
  return { bookedSlot: Number(slot), outputId: id as OutputId }
}

function refusalOf({ isSpent, kinds, conditions, conditionNames }: OutputListFilter) {
  const { heldBy, anyOf } = conditions
  if (heldBy !== undefined && anyOf !== undefined) {
    return { code: 'FILTER_AMBIGUOUS', members: 'heldBy or unlockableBy' } as const
  }
  if (isSpent === true && kinds != null) {
    return { code: 'FILTER_AMBIGUOUS', members: 'kinds or isSpent: true' } as const
  }
  if (isSpent === false || conditionNames.length === 0) return undefined
  return { code: 'FILTER_NEEDS_UNSPENT', members: conditionNames.join(', ') } as const
}

/** Of outputs by the slot they were booked in and by id. */
export const outputCursors = keysetCursors({ list: 'output', values: ['NUMBER', 38] })
const spentCursors = keysetCursors({ list: 'spent', values: ['NUMBER', 38] })
