import { hexToBytes } from '../lib/hex.ts'
import { paused, runToCompletion, type Steps } from '../lib/turns.ts'
import { transactionOf } from '../protocol/ids.ts'
import type { OutputId } from '../protocol/primitives.ts'

/** The trie behind the state root of a commitment, which covers all unspent outputs (ledger reference 11.2). */

/**
 * The changes of a slot in the trie of unspent outputs. An output that the slot creates and consumes is in the trie neither before nor
 * after the slot.
 */
export function outputTrieChanges(slot: {
  readonly created: Iterable<OutputId>
  readonly consumed: Iterable<OutputId>
}): ReadonlyMap<OutputId, Uint8Array | undefined> {
  return runToCompletion(outputTrieSteps(slot))
}

/** Computes the changes in steps, because a slot may have any number of outputs. */
export function* outputTrieSteps(slot: {
  readonly created: Iterable<OutputId>
  readonly consumed: Iterable<OutputId>
}): Steps<ReadonlyMap<OutputId, Uint8Array | undefined>> {
  const valueByKey = new Map<OutputId, Uint8Array | undefined>()
  let last: { readonly digits: string; readonly bytes: Uint8Array } | undefined
  yield* paused(slot.created, (outputId) => {
    // The last 8 digits of the transaction id are its slot.
    const digits = transactionOf(outputId).slice(-8)
    if (last?.digits !== digits) last = { digits, bytes: hexToBytes(`0x${digits}`) }
    valueByKey.set(outputId, last.bytes)
  })
  yield* paused(slot.consumed, (outputId) => valueByKey.set(outputId, undefined))
  return valueByKey
}
