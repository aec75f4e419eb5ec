import type { IndexKey } from '../../ledger/index-keys.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { OutputPosition, UnspentFilter } from '../../store/view-contract.ts'
import type { Services } from '../services.ts'
import {
  defaultPageSize,
  type PageSizeOutOfRange,
  sizeFault,
} from '../updates/list-ledger-updates.ts'
import { type OutputView, viewOfOutput } from './read-output.ts'

/** Unspent outputs, page by page. */

/** Which page of which outputs. */
export interface UnspentPageQuestion {
  readonly filter: UnspentFilter
  readonly first?: number | null | undefined
  /** A cursor; exclusive. */
  readonly after?: string | null | undefined
}

/** A page, by booked slot and id. */
export interface UnspentPage {
  readonly outputs: readonly OutputView[]
  readonly hasNextPage: boolean
  /** Whether an output lies before the page; a read of its own. */
  readonly hasPreviousPage: () => Promise<boolean>
}

/** A text that is not the cursor of an output. */
export interface OutputCursorMalformed {
  readonly code: 'OUTPUT_CURSOR_MALFORMED'
  readonly argument: string
}

/** Two conditions that exclude each other. */
export interface FilterAmbiguous {
  readonly code: 'FILTER_AMBIGUOUS'
  readonly members: string
}

/** Why a page was refused. */
export type ListUnspentOutputsError = OutputCursorMalformed | PageSizeOutOfRange | FilterAmbiguous

/** A page of unspent outputs. What is spent or created meanwhile does not move the others. */
export async function listUnspentOutputs(
  { store }: Pick<Services, 'store'>,
  { filter, first, after }: UnspentPageQuestion,
): Promise<Result<UnspentPage, ListUnspentOutputsError>> {
  const size = first ?? defaultPageSize
  const fault = sizeFault('first', size)
  if (fault !== undefined) return err(fault)
  if (filter.heldBy !== undefined && filter.anyOf !== undefined) {
    return err({ code: 'FILTER_AMBIGUOUS', members: 'heldBy or unlockableBy' })
  }
  const position = after == null ? ok(undefined) : decodeOutputCursor(after, 'after')
  if (!position.ok) return position
  // One row more than the page shows whether there is a next page.
  const question = { filter, after: position.value, limit: size + 1 }
  const rows = await store.read.unspentOutputs(question)
  return ok({
    outputs: rows.slice(0, size).map(viewOfOutput),
    hasNextPage: rows.length > size,
    hasPreviousPage: async () => {
      if (position.value === undefined) return false
      const [lowest] = await store.read.unspentOutputs({ filter, limit: 1 })
      return lowest !== undefined && comparePositions(lowest, position.value) <= 0
    },
  })
}

/** What has an address that could come to unlock it, now or once it has expired. */
export function unlockableBy(address: Hex): readonly IndexKey[] {
  const kinds = ['OWNER', 'STATE_CONTROLLER', 'GOVERNOR', 'EXPIRATION_RETURN'] as const
  return kinds.map((kind) => ({ kind, value: address }))
}

/** The cursor of an output: its position in the order of all, whether or not it is still there. */
export function encodeOutputCursor({ bookedSlot, outputId }: OutputPosition): string {
  return Buffer.from(`${bookedSlot}.${outputId}`, 'latin1').toString('base64url')
}

function decodeOutputCursor(
  cursor: string,
  argument: string,
): Result<OutputPosition, OutputCursorMalformed> {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, slot, id] = /^([0-9]{1,10})\.(0x[0-9a-f]{76})$/.exec(text) ?? []
  if (slot === undefined || id === undefined)
    return err({ code: 'OUTPUT_CURSOR_MALFORMED', argument })
  return ok({ bookedSlot: Number(slot), outputId: id as OutputId })
}

function comparePositions(a: OutputPosition, b: OutputPosition): number {
  if (a.bookedSlot !== b.bookedSlot) return a.bookedSlot - b.bookedSlot
  if (a.outputId === b.outputId) return 0
  return a.outputId < b.outputId ? -1 : 1
}
