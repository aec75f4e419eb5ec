import { present } from '../lib/assert.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch, type TimeParameters } from '../protocol/slots.ts'

/** Decay and generation of mana between two slots, in exact integers (ledger reference 7.1 and 7.2). */

/** The protocol parameters of decay and generation. */
export interface ManaRules extends TimeParameters {
  readonly manaParameters: {
    readonly generationRate: number
    readonly generationRateExponent: number
    readonly decayFactors: readonly number[]
    readonly decayFactorsExponent: number
    readonly decayFactorEpochsSum: number
    readonly decayFactorEpochsSumExponent: number
  }
}

/** The target slot is before the slot that created the mana. */
export interface ManaSlotsReversed {
  readonly code: 'MANA_DECAY_CREATION_INDEX_EXCEEDS_TARGET_INDEX'
  readonly createdSlot: SlotIndex
  readonly targetSlot: SlotIndex
}

/** The rest in `targetSlot` of mana stored in `createdSlot`. Mana does not decay within an epoch. */
export function decayedMana(
  rules: ManaRules,
  mana: bigint,
  createdSlot: SlotIndex,
  targetSlot: SlotIndex,
): Result<bigint, ManaSlotsReversed> {
  const epochs = epochOfSlot(rules, targetSlot) - epochOfSlot(rules, createdSlot)
  if (epochs < 0) return reversed(createdSlot, targetSlot)
  return ok(decay(rules, mana, epochs))
}

/** The mana that base tokens generate from `createdSlot` to `targetSlot`, after decay. */
export function generatedMana(
  rules: ManaRules,
  amount: bigint,
  createdSlot: SlotIndex,
  targetSlot: SlotIndex,
): Result<bigint, ManaSlotsReversed> {
  if (createdSlot > targetSlot) return reversed(createdSlot, targetSlot)
  const first = epochOfSlot(rules, createdSlot)
  const last = epochOfSlot(rules, targetSlot)
  const epochs = last - first
  if (epochs === 0) return ok(generate(rules, amount, targetSlot - createdSlot))
  // Both parts add the genesis slot: a quirk of node and SDK, without effect for genesis slot 0.
  const before = firstSlotOfEpoch(rules, first + 1) - createdSlot + rules.genesisSlot
  const since = targetSlot - firstSlotOfEpoch(rules, last) + rules.genesisSlot
  const early = decay(rules, generate(rules, amount, before), epochs)
  const late = generate(rules, amount, since)
  if (epochs === 1) return ok(cut(early + late))
  return ok(cut(wholeEpochs(rules, amount, epochs - 1) + early + late))
}

/** Mana that an output has generated but not stored. Only the amount above its storage deposit counts. */
export function potentialMana(
  rules: ManaRules,
  output: { readonly amount: bigint; readonly minimumAmount: bigint },
  createdSlot: SlotIndex,
  targetSlot: SlotIndex,
): Result<bigint, ManaSlotsReversed> {
  // An excess of 0 generates nothing, but the slots are still checked.
  if (output.amount < output.minimumAmount) return ok(0n)
  return generatedMana(rules, output.amount - output.minimumAmount, createdSlot, targetSlot)
}

/** Mana generated in the whole epochs between the first and the last epoch, each decayed to the last epoch. */
function wholeEpochs(rules: ManaRules, amount: bigint, decayedEpochs: number): bigint {
  const mana = rules.manaParameters
  const rate = BigInt(mana.decayFactorEpochsSum) * BigInt(mana.generationRate)
  const exponent =
    mana.decayFactorEpochsSumExponent + mana.generationRateExponent - rules.slotsPerEpochExponent
  const forever = multiply(amount, rate, exponent)
  const rounding = forever >> BigInt(mana.decayFactorsExponent)
  return forever - decay(rules, forever, decayedEpochs) - rounding
}

function generate(rules: ManaRules, amount: bigint, slots: number): bigint {
  const { generationRate, generationRateExponent } = rules.manaParameters
  return multiply(amount, BigInt(slots) * BigInt(generationRate), generationRateExponent)
}

/**
 * The rest of mana after some epochs. For more epochs than the table has, its longest step is applied first. Every step rounds down, so
 * the order matters.
 */
export function decay(rules: ManaRules, mana: bigint, epochs: number): bigint {
  const { decayFactors, decayFactorsExponent } = rules.manaParameters
  let left = mana
  let remaining = epochs
  while (left > 0n && remaining > 0 && decayFactors.length > 0) {
    const steps = Math.min(remaining, decayFactors.length)
    const factor = present(decayFactors[steps - 1], 'decay factor')
    left = multiply(left, BigInt(factor), decayFactorsExponent)
    remaining -= steps
  }
  return left
}

/** Multiplies exactly, and truncates the result to 64 bits. */
function multiply(value: bigint, factor: bigint, exponent: number): bigint {
  return cut((value * factor) >> BigInt(exponent))
}

function cut(value: bigint): bigint {
  return BigInt.asUintN(64, value)
}

function reversed(createdSlot: SlotIndex, targetSlot: SlotIndex) {
  return err({
    code: 'MANA_DECAY_CREATION_INDEX_EXCEEDS_TARGET_INDEX',
    createdSlot,
    targetSlot,
  } as const)
}
