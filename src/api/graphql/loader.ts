import { restOfTurn } from '../../lib/turns.ts'
import type { GatewayContext } from './builder.ts'

/** Reads of one answer that belong together: what its fields ask for at the same time is read at once. */

interface Batch<A, R> {
  readonly asked: A[]
  readonly answers: Promise<readonly R[]>
}

/**
 * Makes a function that asks together with all fields of the same depth of an answer. `read` gives an answer for each question, in
 * their order; only questions of one group are read together.
 */
export function createLoader<A, R>(
  read: (context: GatewayContext, asked: readonly A[]) => Promise<readonly R[]>,
  groupOf: (asked: A) => string = () => '',
) {
  const openBatches = new WeakMap<GatewayContext, Map<string, Batch<A, R>>>()

  function openBatch(context: GatewayContext, group: string): Batch<A, R> {
    const open = openBatches.get(context) ?? new Map<string, Batch<A, R>>()
    openBatches.set(context, open)
    const asked: A[] = []
    const readAll = async () => {
      // By then every field of the same depth has asked.
      await restOfTurn(context.share.client)
      open.delete(group)
      return await read(context, asked)
    }
    const batch = { asked, answers: readAll() }
    open.set(group, batch)
    return batch
  }

  return async (context: GatewayContext, question: A): Promise<R | undefined> => {
    const group = groupOf(question)
    const batch = openBatches.get(context)?.get(group) ?? openBatch(context, group)
    const place = batch.asked.push(question) - 1
    return (await batch.answers)[place]
  }
}
