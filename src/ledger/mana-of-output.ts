import { ok, type Result } from '../lib/result.ts'
import type { Output } from '../protocol/outputs.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import { minimumAmount } from '../protocol/score.ts'
import { decayedMana, type ManaSlotsReversed, potentialMana } from './mana.ts'
import { storedManaOf } from './output-parts.ts'

/** The mana in an output (ledger reference 7.2). */

/** The mana that an output holds in a slot. */
export interface ManaOfOutput {
  /** Stored mana after decay. */
  readonly stored: bigint
  /** Mana that its base tokens have generated since its creation. */
  readonly potential: bigint
}

/** The mana of an output in the slot `target`. Decay and generation begin in its creation slot. */
export function manaOfOutput(
  parameters: ProtocolParameters,
  { output, creationSlot }: { readonly output: Output; readonly creationSlot: SlotIndex },
  target: SlotIndex,
): Result<ManaOfOutput, ManaSlotsReversed> {
  const stored = decayedMana(parameters, storedManaOf(output), creationSlot, target)
  if (!stored.ok) return stored
  const holding = {
    amount: output.amount,
    minimumAmount: minimumAmount(parameters.storageScoreParameters, output),
  }
  const potential = potentialMana(parameters, holding, creationSlot, target)
  return potential.ok ? ok({ stored: stored.value, potential: potential.value }) : potential
}
