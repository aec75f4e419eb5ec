import type { EpochIndex, SlotIndex } from './primitives.ts'

/** Time, slots and epochs (codec reference 15). Slot `genesisSlot` represents all time before genesis. */

/** The protocol parameters that divide time into slots and epochs. */
export interface TimeParameters {
  readonly genesisSlot: SlotIndex
  /** Unix time in seconds at which slot `genesisSlot + 1` begins. */
  readonly genesisUnixTimestamp: bigint
  readonly slotDurationInSeconds: number
  /** Exponent of the number of slots of an epoch, a power of 2. */
  readonly slotsPerEpochExponent: number
}

/** The highest slot and the highest epoch, which also mean "never". */
export const maxSlot: SlotIndex = 0xffff_ffff

/** Issuing times are in nanoseconds, starts and ends of slots in seconds. */
export const nsPerSecond = 1_000_000_000n

/** The slot of an issuing time in Unix nanoseconds; at most the last slot. */
export function slotOfTime(parameters: TimeParameters, issuingTime: bigint): SlotIndex {
  const seconds = issuingTime / nsPerSecond - parameters.genesisUnixTimestamp
  if (seconds < 0n) return parameters.genesisSlot
  const slot =
    parameters.genesisSlot + Number(seconds / BigInt(parameters.slotDurationInSeconds)) + 1
  return Math.min(slot, maxSlot)
}

/** Start of a slot in Unix seconds. The genesis slot has no start; its end is returned instead. */
export function slotStart(parameters: TimeParameters, slot: SlotIndex): number {
  const before = Math.max(slot - parameters.genesisSlot - 1, 0)
  return Number(parameters.genesisUnixTimestamp) + before * parameters.slotDurationInSeconds
}

/** End of a slot in Unix seconds: the first second of the next slot, and the timestamp of the milestone. */
export function slotEnd(parameters: TimeParameters, slot: SlotIndex): number {
  const slots = Math.max(slot - parameters.genesisSlot, 0)
  return Number(parameters.genesisUnixTimestamp) + slots * parameters.slotDurationInSeconds
}

/** End of a slot in Unix nanoseconds, the unit of issuing times. */
export function slotEndNs(parameters: TimeParameters, slot: SlotIndex): bigint {
  return BigInt(slotEnd(parameters, slot)) * nsPerSecond
}

/** The epoch of a slot; 0 up to and including the genesis slot. */
export function epochOfSlot(parameters: TimeParameters, slot: SlotIndex): EpochIndex {
  if (slot <= parameters.genesisSlot) return 0
  return Math.floor((slot - parameters.genesisSlot) / slotsPerEpoch(parameters))
}

export function firstSlotOfEpoch(parameters: TimeParameters, epoch: EpochIndex): SlotIndex {
  return parameters.genesisSlot + epoch * slotsPerEpoch(parameters)
}

export function lastSlotOfEpoch(parameters: TimeParameters, epoch: EpochIndex): SlotIndex {
  return firstSlotOfEpoch(parameters, epoch + 1) - 1
}

function slotsPerEpoch(parameters: TimeParameters): number {
  return 2 ** parameters.slotsPerEpochExponent
}
