import type { EpochIndex, SlotIndex } from './primitives.ts'

/** Time, slots and epochs (codec reference 15). Slot `genesisSlot` stands for all time before genesis. */

/** The members of the protocol parameters that say how time is cut. */
export interface TimeParameters {
  readonly genesisSlot: SlotIndex
  /** Unix time in seconds at which slot `genesisSlot + 1` begins. */
  readonly genesisUnixTimestamp: bigint
  readonly slotDurationInSeconds: number
  /** An epoch has 2 to this power slots. */
  readonly slotsPerEpochExponent: number
}

/** The highest slot and the highest epoch, which also mean "never". */
export const maximumSlot: SlotIndex = 0xffff_ffff

const nanosecondsPerSecond = 1_000_000_000n

/** The slot of an issuing time in Unix nanoseconds; beyond the last slot the time counts as the last one's. */
export function slotOfTime(parameters: TimeParameters, issuingTime: bigint): SlotIndex {
  const seconds = issuingTime / nanosecondsPerSecond - parameters.genesisUnixTimestamp
  if (seconds < 0n) return parameters.genesisSlot
  const slot =
    parameters.genesisSlot + Number(seconds / BigInt(parameters.slotDurationInSeconds)) + 1
  return Math.min(slot, maximumSlot)
}

/** When a slot begins, in Unix seconds. The genesis slot has no beginning; its end is given instead. */
export function slotStart(parameters: TimeParameters, slot: SlotIndex): number {
  const before = Math.max(slot - parameters.genesisSlot - 1, 0)
  return Number(parameters.genesisUnixTimestamp) + before * parameters.slotDurationInSeconds
}

/** When a slot is over, in Unix seconds: the first second of the next one, and a milestone's timestamp. */
export function slotEnd(parameters: TimeParameters, slot: SlotIndex): number {
  const slots = Math.max(slot - parameters.genesisSlot, 0)
  return Number(parameters.genesisUnixTimestamp) + slots * parameters.slotDurationInSeconds
}

/** The epoch a slot belongs to; 0 up to and including the genesis slot. */
export function epochOfSlot(parameters: TimeParameters, slot: SlotIndex): EpochIndex {
  if (slot <= parameters.genesisSlot) return 0
  return Math.floor((slot - parameters.genesisSlot) / slotsPerEpoch(parameters))
}

/** The first slot of an epoch. */
export function firstSlotOfEpoch(parameters: TimeParameters, epoch: EpochIndex): SlotIndex {
  return parameters.genesisSlot + epoch * slotsPerEpoch(parameters)
}

/** The last slot of an epoch. */
export function lastSlotOfEpoch(parameters: TimeParameters, epoch: EpochIndex): SlotIndex {
  return firstSlotOfEpoch(parameters, epoch + 1) - 1
}

function slotsPerEpoch(parameters: TimeParameters): number {
  return 2 ** parameters.slotsPerEpochExponent
}
