import { getOrInsert } from '../../lib/get-or-insert.ts'
import { nextTurn, restOfTurn } from '../../lib/turns.ts'
import type { GatewayContext } from './builder.ts'

/** Batches the reads of one response: keys that its fields load concurrently are read together. */

interface Batch<K, V> {
  readonly keys: K[]
  /** The values of all keys, for those that are added next. */
  values: Promise<readonly V[]>
}

/** Keys whose fields continue in one turn of the event loop. Tens of thousands would hold it for a tenth of a second. */
const keysPerTurn = 512

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
    const open = getOrInsert(openBatches, context, () => new Map<string, Batch<K, V>>())
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
    if (index > 0 && index % keysPerTurn === 0) batch.values = inNextTurn(batch.values, context)
    return batch.values.then((values) => values[index])
  }
}

/** Creates a read that concurrent calls for one response share. */
export function sharedByResponse<T>(read: (context: GatewayContext) => Promise<T>) {
  const pending = new WeakMap<GatewayContext, Promise<T>>()
  return (context: GatewayContext): Promise<T> =>
    getOrInsert(pending, context, () => read(context).finally(() => pending.delete(context)))
}

async function inNextTurn<V>(values: Promise<V>, { share }: GatewayContext): Promise<V> {
  const there = await values
  await nextTurn(share.client)
  return there
}

/** Rows that one statement reads. On SQLite it holds the event loop while it runs. */
const rowsPerRead = 2_000

/** Reads keys in parts, each in a turn of its own. `rows` is the number of rows for each key. Returns the result for each part. */
export async function readInParts<K, T>(
  { share }: Pick<GatewayContext, 'share'>,
  keys: readonly K[],
  read: (some: readonly K[]) => Promise<T>,
  rows = 1,
): Promise<readonly T[]> {
  const size = Math.ceil(rowsPerRead / rows)
  const parts = [await read(keys.slice(0, size))]
  for (let from = size; from < keys.length; from += size) {
    await nextTurn(share.client)
    parts.push(await read(keys.slice(from, from + size)))
  }
  return parts
}
