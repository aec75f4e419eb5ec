import { conditionOf } from '../../ledger/output-parts.ts'
import { ownerAt } from '../../ledger/updates.ts'
import type { Address } from '../../protocol/addresses.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { Expiration } from '../../protocol/unlock-conditions.ts'
import type { Services } from '../services.ts'
import type { OutputView } from './read-output.ts'

/** Who owns an output; an expiration may have given it to another address. */

/**
 * The owner of an output when it was spent; of an unspent one as of the newest milestone, which is read only where an
 * expiration depends on it.
 */
export async function readOwner(
  { parameters }: Pick<Services, 'parameters'>,
  view: OutputView,
  newestSlot: () => Promise<SlotIndex>,
): Promise<Address> {
  const output = view.output()
  if (conditionOf(output, Expiration) === undefined) return ownerAt(output, 0)
  const slot = view.spentSlot ?? (await newestSlot())
  return ownerAt(output, slot + parameters.minCommittableAge)
}
