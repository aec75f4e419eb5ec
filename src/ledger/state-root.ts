import { hexToBytes } from '../lib/hex.ts'
import { transactionOf } from '../protocol/ids.ts'
import type { OutputId } from '../protocol/primitives.ts'

/** The state root of a commitment stands for all unspent outputs (ledger reference 11.2). */

/**
 * What a slot changes in the trie of unspent outputs. An output that is created and consumed in the slot is not in
 * the trie before or after it.
 */
export function outputTrieChanges(slot: {
  readonly created: Iterable<OutputId>
  readonly consumed: Iterable<OutputId>
}): ReadonlyMap<OutputId, Uint8Array | undefined> {
  const valueByKey = new Map<OutputId, Uint8Array | undefined>()
  for (const outputId of slot.created) valueByKey.set(outputId, creationSlotBytes(outputId))
  for (const outputId of slot.consumed) valueByKey.set(outputId, undefined)
  return valueByKey
}

/** Those at the end of the id of its transaction. */
function creationSlotBytes(outputId: OutputId): Uint8Array {
  return hexToBytes(`0x${transactionOf(outputId).slice(-8)}`)
}
