import { hexToBytes } from '../lib/hex.ts'
import { atOnce, paused, type Steps } from '../lib/turns.ts'
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
  return atOnce(outputTrieSteps(slot))
}

/** The same in steps, for a slot that may have any number of outputs. */
export function* outputTrieSteps(slot: {
  readonly created: Iterable<OutputId>
  readonly consumed: Iterable<OutputId>
}): Steps<ReadonlyMap<OutputId, Uint8Array | undefined>> {
  const valueByKey = new Map<OutputId, Uint8Array | undefined>()
  let last: { readonly digits: string; readonly bytes: Uint8Array } | undefined
  yield* paused(slot.created, (outputId) => {
    // The slot at the end of the id of its transaction.
    const digits = transactionOf(outputId).slice(-8)
    if (last?.digits !== digits) last = { digits, bytes: hexToBytes(`0x${digits}`) }
    valueByKey.set(outputId, last.bytes)
  })
  yield* paused(slot.consumed, (outputId) => valueByKey.set(outputId, undefined))
  return valueByKey
}
