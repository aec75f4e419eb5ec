import { conditionOf } from '../../ledger/output-parts.ts'
import { ownerAt } from '../../ledger/updates.ts'
import type { Address } from '../../protocol/addresses.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { Expiration } from '../../protocol/unlock-conditions.ts'
import type { Services } from '../services.ts'
import type { OutputView } from './read-output.ts'

/** The owner of an output, which an expiration may have changed. */

/**
 * Returns the owner of a spent output at its spending, or of an unspent output as of the newest milestone, or as of the slot of its
 * booking if that is not committed yet. The newest milestone is read only if the output has an expiration.
 */
export async function readOwner(
  { parameters }: Pick<Services, 'parameters'>,
  view: OutputView,
  newestSlot: () => Promise<SlotIndex>,
): Promise<Address> {
  const output = view.output()
  if (conditionOf(output, Expiration) === undefined) return ownerAt(output, 0)
  const slot = view.spentSlot ?? Math.max(await newestSlot(), view.bookedSlot)
  return ownerAt(output, slot + parameters.minCommittableAge)
}
