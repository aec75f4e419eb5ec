import type { SlotIndex } from '../protocol/primitives.ts'
import {
  epochOfSlot,
  firstSlotOfEpoch,
  slotEnd,
  slotStart,
  type TimeParameters,
} from '../protocol/slots.ts'

/** The spans of time over which activity is counted. A slot belongs to the span in which it begins. */

/** The lengths of spans, in the order of their numbers in the database. */
export const resolutions = ['SLOT', 'MINUTE', 'HOUR', 'DAY', 'EPOCH'] as const
export type Resolution = (typeof resolutions)[number]

const secondsOf = { MINUTE: 60, HOUR: 3_600, DAY: 86_400 } as const

/** The number of the span that contains a slot: the slot or epoch itself, or the number of spans since 1970 before it. */
export function bucketOfSlot(
  parameters: TimeParameters,
  resolution: Resolution,
  slot: SlotIndex,
): number {
  if (resolution === 'SLOT') return slot
  if (resolution === 'EPOCH') return epochOfSlot(parameters, slot)
  return Math.floor(slotStart(parameters, slot) / secondsOf[resolution])
}

/** The number of the span that contains a time in Unix seconds. Time before the genesis counts as the genesis slot. */
export function bucketOfTime(
  parameters: TimeParameters,
  resolution: Resolution,
  seconds: number,
): number {
  if (resolution === 'SLOT' || resolution === 'EPOCH') {
    const genesis = slotEnd(parameters, parameters.genesisSlot)
    const slots = Math.floor((seconds - genesis) / parameters.slotDurationInSeconds) + 1
    const slot = parameters.genesisSlot + Math.max(0, slots)
    return bucketOfSlot(parameters, resolution, slot)
  }
  return Math.floor(seconds / secondsOf[resolution])
}

/** The beginning of a span, in Unix seconds. */
export function bucketStart(
  parameters: TimeParameters,
  resolution: Resolution,
  bucket: number,
): number {
  if (resolution === 'SLOT') return slotStart(parameters, bucket)
  if (resolution === 'EPOCH') return slotStart(parameters, firstSlotOfEpoch(parameters, bucket))
  return bucket * secondsOf[resolution]
}

/** The first slot of a span; the genesis slot for earlier spans. A span that is shorter than a slot may contain none. */
export function firstSlotOfBucket(
  parameters: TimeParameters,
  resolution: Resolution,
  bucket: number,
): SlotIndex {
  if (resolution === 'SLOT') return bucket
  if (resolution === 'EPOCH') return firstSlotOfEpoch(parameters, bucket)
  const { genesisSlot, slotDurationInSeconds } = parameters
  const seconds = bucket * secondsOf[resolution] - slotEnd(parameters, genesisSlot)
  // The genesis slot has no beginning of its own: it shares the beginning of the next slot.
  return seconds <= 0 ? genesisSlot : genesisSlot + 1 + Math.ceil(seconds / slotDurationInSeconds)
}
