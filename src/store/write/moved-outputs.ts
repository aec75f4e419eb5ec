import type { MovedOutputs } from '../../ledger/activity.ts'
import type { Hex } from '../../lib/hex.ts'
import { createPackedBytes } from '../../lib/packed-bytes.ts'
import { createPackedMap, type PackedMap } from '../../lib/packed-map.ts'
import type { OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { idFromBytes } from '../values.ts'

/** The parts of outputs and addresses that a commit needs until its slots are written, in compact form. */

/** The amounts and spenders of outputs. */
export interface CollectedOutputs extends MovedOutputs {
  created(outputId: OutputId, amount: bigint): void
  /** The spender is `null` if the node did not report it. */
  spent(outputId: OutputId, spender: Uint8Array | null): void
}

/** Creates an empty collection. */
export function collectOutputs(): CollectedOutputs {
  const amounts = createPackedMap()
  const spenders = createPackedBytes()
  const spenderPlaces = createPackedMap()

  function spenderOf(outputId: OutputId): TransactionId | undefined {
    const place = spenderPlaces.get(outputId)
    return place === undefined ? undefined : idFromBytes(spenders.at(Number(place)))
  }

  return {
    created: (outputId, amount) => amounts.set(outputId, amount),
    spent: (outputId, spender) => {
      if (spender !== null) spenderPlaces.set(outputId, BigInt(spenders.add(spender)))
    },
    amountById: amounts,
    spenderById: { get: spenderOf },
  }
}

/** The totals of addresses at the ends of slots. */
export interface CollectedTotals {
  set(address: Hex, slot: SlotIndex, total: bigint): void
  /** `undefined` if the slot did not change the total. */
  get(address: Hex, slot: SlotIndex): bigint | undefined
}

/** Creates an empty collection. */
export function collectTotals(): CollectedTotals {
  const bySlot = new Map<SlotIndex, PackedMap>()

  function set(address: Hex, slot: SlotIndex, total: bigint): void {
    const totals = bySlot.get(slot) ?? createPackedMap()
    bySlot.set(slot, totals)
    totals.set(address, total)
  }

  return { set, get: (address, slot) => bySlot.get(slot)?.get(address) }
}
