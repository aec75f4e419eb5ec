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
  const trieValueOf = outputValues()
  yield* paused(slot.created, (outputId) => valueByKey.set(outputId, trieValueOf(outputId)))
  yield* paused(slot.consumed, (outputId) => valueByKey.set(outputId, undefined))
  return valueByKey
}

/** Returns the values of unspent outputs in the trie. Most outputs of a slot have the same value. */
export function outputValues(): (outputId: OutputId) => Uint8Array {
  let last: { readonly digits: string; readonly bytes: Uint8Array } | undefined
  return (outputId) => {
    // The last 8 digits of the transaction id are its slot.
    const digits = transactionOf(outputId).slice(-8)
    if (last?.digits !== digits) last = { digits, bytes: hexToBytes(`0x${digits}`) }
    return last.bytes
  }
}
