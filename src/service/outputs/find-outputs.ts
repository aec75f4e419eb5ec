import { type IndexKey, type IndexKind, multiAddressesIn } from '../../ledger/index-keys.ts'
import type { Hex } from '../../lib/hex.ts'
import { passTurn } from '../../lib/turns.ts'
import type { MultiAddress } from '../../protocol/addresses.ts'
import type { OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { rowsPerTurn } from '../../store/contract/list.ts'
import type {
  OutputKey,
  OutputPosition,
  SlotBounds,
  UnspentFilter,
} from '../../store/contract/view.ts'
import type { Services } from '../services.ts'
import { viewOfOutput } from './read-output.ts'
import { scanUnspent } from './scan-unspent.ts'

/** Finds unspent outputs like the indexer: as of all booked transactions, committed or not (rest.md 5). */

/** Conditions on outputs, in the terms of the store. */
export type OutputFilter = Omit<UnspentFilter, 'asOf' | 'heldBy'>

/** Index keys, positions and bounds of a search. */
export type { OutputKey, OutputPosition as OutputPlace, SlotBounds }

/** A page of outputs, and the position after which the next page begins. */
export interface FoundPage {
  /** The newest committed slot. */
  readonly committedSlot: SlotIndex
  readonly outputIds: readonly OutputId[]
  readonly next: OutputPosition | undefined
}

/** Reads a page of outputs by booking slot and id. */
export async function findOutputs(
  { store: { read } }: Pick<Services, 'store'>,
  page: {
    readonly filter: OutputFilter
    readonly after: OutputPosition | undefined
    readonly pageSize: number
  },
): Promise<FoundPage> {
  const { after, pageSize } = page
  const filter: UnspentFilter = { ...page.filter, asOf: 'BOOKED' }
  const { slot: committedSlot } = await read.latestMilestone()
  // Reads one row more than the page has, to find out whether there is a next page.
  const query = { filter, after, limit: pageSize + 1 }
  const { rows, stoppedAt } = await scanUnspent(read, query, maxBatches)
  const shown = rows.slice(0, pageSize)
  return {
    committedSlot,
    outputIds: shown.map(({ outputId }) => outputId),
    next: rows.length > pageSize ? shown.at(-1) : stoppedAt,
  }
}

/** Maximum number of batches per page. A page of rare outputs ends before it is full, and the client continues at its cursor. */
const maxBatches = 25

/** The index keys of outputs that an address may unlock at some time, or that return a deposit to it. Expirations are ignored. */
export function unlockableKeys(address: Hex): readonly IndexKey[] {
  return unlocking.map((kind) => ({ kind, value: address }))
}

/** The index keys of outputs that an address may unlock, now or after their expiration. */
export function unlockableBy(address: Hex): readonly IndexKey[] {
  return holding.map((kind) => ({ kind, value: address }))
}

/** The holder of an expired output is its return address; its former owner can no longer unlock it. */
const holding = ['HOLDER', 'GOVERNOR', 'EXPIRATION_RETURN'] as const satisfies readonly IndexKind[]
const unlocking = [...holding, 'EXPIRING_OWNER', 'STORAGE_DEPOSIT_RETURN'] as const

/** Reads multi addresses by their references, each from an unspent output that contains it. Others are left out. */
export async function readMultiAddresses(
  { store }: Pick<Services, 'store'>,
  references: readonly Hex[],
): Promise<ReadonlyMap<Hex, MultiAddress>> {
  const found = new Map<Hex, MultiAddress>()
  for (let at = 0; at < references.length; at += rowsPerTurn) {
    await passTurn()
    const some = references.slice(at, at + rowsPerTurn)
    for (const row of await store.read.outputsNamingMultis(some)) {
      for (const [key, multi] of multiAddressesIn(viewOfOutput(row).output())) found.set(key, multi)
      await passTurn()
    }
  }
  return found
}
