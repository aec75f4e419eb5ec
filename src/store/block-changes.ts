import type { Store } from './contract.ts'

/**
 * Wraps a store so that it calls `onChange` after each write that adds blocks or may change their states. Writes of other processes do
 * not call it.
 */
export function notifyBlockChanges(store: Store, onChange: () => void): Store {
  function notifying<A extends readonly unknown[], T>(write: (...args: A) => Promise<T>) {
    return async (...args: A): Promise<T> => {
      const answer = await write(...args)
      onChange()
      return answer
    }
  }

  const { acceptBlocks, acceptOwnBlocks, book, commitSlots, followSlots, storeFinalBlocks } =
    store.write
  return {
    ...store,
    write: {
      ...store.write,
      acceptBlocks: notifying(acceptBlocks),
      acceptOwnBlocks: notifying(acceptOwnBlocks),
      book: notifying(book),
      commitSlots: notifying(commitSlots),
      followSlots: notifying(followSlots),
      storeFinalBlocks: notifying(storeFinalBlocks),
    },
  }
}
