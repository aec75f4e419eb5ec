import { err } from '../../lib/result.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { UnspentFilter } from '../../store/contract/view.ts'
import type { OutputRow } from '../../store/rows.ts'
import { type OutputView, viewOfOutput } from '../outputs/read-output.ts'
import { scanUnspent } from '../outputs/scan-unspent.ts'
import type { Services } from '../services.ts'
import { defaultPageSize, type MilestoneRangeReversed } from '../updates/list-ledger-updates.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type KeysetList,
  type MilestoneBounds,
  type PageArguments,
  type Paged,
  readKeysetPage,
  readSlotPage,
  type SlotList,
} from './keyset-page.ts'
import type { FilterAmbiguous } from './list-blocks.ts'

/** Pages of outputs, spent or unspent. */

/** Conditions that the store indexes only for unspent outputs. */
export type UnspentConditions = Omit<UnspentFilter, 'asOf' | 'kinds' | 'created'>

/** Conditions on outputs; a listed output meets all of them. */
export interface OutputListFilter extends MilestoneBounds {
  /** Selects spent or unspent outputs; both if left out. */
  readonly isSpent?: boolean | null | undefined
  /** Type codes. */
  readonly kinds?: readonly number[] | null | undefined
  readonly conditions: UnspentConditions
  /** Names of the given conditions, as in the request. */
  readonly conditionNames: readonly string[]
}

/** The filter has conditions that only lists of unspent outputs support. */
export interface FilterNeedsUnspent {
  readonly code: 'FILTER_NEEDS_UNSPENT'
  /** The names of the conditions. */
  readonly members: string
}

/** Maximum number of addresses in a filter. Each of them is a condition of the statement, which a database plans or refuses by their number. */
export const maxFilterAddresses = 20

/** A filter has more addresses than `maxFilterAddresses`. */
export interface FilterAddressCount {
  readonly code: 'FILTER_ADDRESS_COUNT'
  readonly count: number
  readonly limit: number
}

/** Lists outputs by booking slot and id; a list of spent outputs only is ordered by spending slot and id. */
export async function listOutputs(
  { store }: Pick<Services, 'store'>,
  filter: OutputListFilter,
  args: PageArguments,
): Paged<OutputView, MilestoneRangeReversed | FilterAmbiguous | FilterNeedsUnspent> {
  const refused = refusalOf(filter)
  if (refused !== undefined) return err(refused)
  const { isSpent, conditions } = filter
  const kinds = filter.kinds ?? undefined
  if (isSpent === false) {
    const unspent = unspentList(store, { ...conditions, asOf: 'BOOKED', kinds })
    return await readSlotPage({ ...unspent, beforeSlot: ['0x'] }, filter, args)
  }
  const list: SlotList<OutputView> = {
    cursors: isSpent === true ? spentCursors : outputCursors,
    beforeSlot: ['0x'],
    positionOf: isSpent === true ? spendingPosition : bookingPosition,
    read: async (part, page) => {
      const where = isSpent === true ? 'SPENT' : { kinds }
      return (await store.read.outputPages([{ ...part, where }], page)).flat().map(viewOfOutput)
    },
  }
  return await readSlotPage(list, filter, args)
}

/** Lists unspent outputs by booking slot and id. Outputs that are spent or created between pages do not shift the others. */
export async function listUnspentOutputs(
  { store }: Pick<Services, 'store'>,
  filter: UnspentFilter,
  args: PageArguments,
): Paged<OutputView, FilterAmbiguous> {
  const refused = ambiguityOf(filter)
  if (refused !== undefined) return err(refused)
  const list = {
    ...unspentList(store, filter),
    whole: allBookings,
    defaultSize: defaultPageSize,
  }
  return await readKeysetPage(list, args)
}

function unspentList(
  { read }: Services['store'],
  filter: UnspentFilter,
): Omit<KeysetList<OutputView>, 'whole'> {
  return {
    cursors: outputCursors,
    positionOf: bookingPosition,
    read: async ({ above, below }, page) => {
      const [after, before] = [above, below].map(([slot, id]) => ({
        bookedSlot: Number(slot),
        outputId: id as OutputId,
      }))
      const { rows } = await scanUnspent(read, { filter, after, before, ...page })
      return rows.map(viewOfOutput)
    },
  }
}

/** All sort positions in lists by booking slot and id. */
export const allBookings = { above: [-1, '0x'], below: [Number.MAX_SAFE_INTEGER, '0x'] } as const

/** Sort position of an output in lists by booking slot and id. */
export function bookingPosition({
  bookedSlot,
  outputId,
}: Pick<OutputRow, 'bookedSlot' | 'outputId'>) {
  return [bookedSlot, outputId] as const
}

function spendingPosition({ spentSlot = 0, outputId }: Pick<OutputRow, 'spentSlot' | 'outputId'>) {
  return [spentSlot, outputId] as const
}

function refusalOf({ isSpent, kinds, conditions, conditionNames }: OutputListFilter) {
  const ambiguity = ambiguityOf(conditions)
  if (ambiguity !== undefined) return ambiguity
  if (isSpent === true && kinds != null) {
    return { code: 'FILTER_AMBIGUOUS', members: 'kinds or isSpent: true' } as const
  }
  if (isSpent === false || conditionNames.length === 0) return undefined
  return { code: 'FILTER_NEEDS_UNSPENT', members: conditionNames.join(', ') } as const
}

function ambiguityOf({ heldBy, anyOf }: UnspentConditions): FilterAmbiguous | undefined {
  if (heldBy === undefined || anyOf === undefined) return undefined
  return { code: 'FILTER_AMBIGUOUS', members: 'heldBy or unlockableBy' }
}

/** Cursors of outputs by booking slot and id. */
export const outputCursors = keysetCursors({ list: 'output', values: ['NUMBER', 38] })
const spentCursors = keysetCursors({ list: 'spent', values: ['NUMBER', 38] })
