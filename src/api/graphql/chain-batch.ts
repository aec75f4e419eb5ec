import type { Hex } from '../../lib/hex.ts'
import { type ChainView, readChains } from '../../service/chains/read-chain.ts'
import type { GatewayContext } from './builder.ts'

/** Chains of one answer, read together. */

interface Batch {
  readonly ids: Set<Hex>
  readonly views: Promise<ReadonlyMap<Hex, ChainView>>
}

const openBatches = new WeakMap<GatewayContext, Batch>()

/** A chain; everything that an answer asks for at the same time is read at once. `undefined` when it is not known. */
export async function chainInBatch(
  context: GatewayContext,
  chainId: Hex,
): Promise<ChainView | undefined> {
  const batch = openBatches.get(context) ?? openBatch(context)
  batch.ids.add(chainId)
  return (await batch.views).get(chainId)
}

function openBatch(context: GatewayContext): Batch {
  const ids = new Set<Hex>()
  const read = async () => {
    // By then every field of the same depth has asked.
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
    openBatches.delete(context)
    return await readChains(context.services, [...ids])
  }
  const batch = { ids, views: read() }
  openBatches.set(context, batch)
  return batch
}
