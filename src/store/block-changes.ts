import { afterCall } from '../lib/after-call.ts'
import type { Store } from './contract.ts'

/**
 * Wraps a store so that it calls `onChange` after each write that adds blocks or may change their states. Writes of other processes do
 * not call it.
 */
export function notifyBlockChanges(store: Store, onChange: () => void): Store {
  const { acceptBlocks, acceptOwnBlocks, book, commitSlots, followSlots, storeFinalBlocks } =
    store.write
  return {
    ...store,
    write: {
      ...store.write,
      acceptBlocks: afterCall(acceptBlocks, onChange),
      acceptOwnBlocks: afterCall(acceptOwnBlocks, onChange),
      book: afterCall(book, onChange),
      commitSlots: afterCall(commitSlots, onChange),
      followSlots: afterCall(followSlots, onChange),
      storeFinalBlocks: afterCall(storeFinalBlocks, onChange),
    },
  }
}
