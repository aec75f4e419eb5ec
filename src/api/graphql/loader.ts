import { restOfTurn } from '../../lib/turns.ts'
import type { GatewayContext } from './builder.ts'

/** Batches the reads of one response: keys that its fields load concurrently are read together. */

interface Batch<K, V> {
  readonly keys: K[]
  readonly values: Promise<readonly V[]>
}

/**
 * Creates a function that loads a value by its key, in one batch with all fields at the same depth of a response. `read` returns a value
 * for each key, in their order. Only keys of one group are read in one batch.
 */
export function createLoader<K, V>(
  read: (context: GatewayContext, keys: readonly K[]) => Promise<readonly V[]>,
  groupOf: (key: K) => string = () => '',
) {
  const openBatches = new WeakMap<GatewayContext, Map<string, Batch<K, V>>>()

  function openBatch(context: GatewayContext, group: string): Batch<K, V> {
    const open = openBatches.get(context) ?? new Map<string, Batch<K, V>>()
    openBatches.set(context, open)
    const keys: K[] = []
    const readAll = async () => {
      // By the end of the turn, every field at the same depth has added its key.
      await restOfTurn(context.share.client)
      open.delete(group)
      return await read(context, keys)
    }
    const batch = { keys, values: readAll() }
    open.set(group, batch)
    return batch
  }

  return (context: GatewayContext, key: K): Promise<V | undefined> => {
    const group = groupOf(key)
    const batch = openBatches.get(context)?.get(group) ?? openBatch(context, group)
    const index = batch.keys.push(key) - 1
    return batch.values.then((values) => values[index])
  }
}
