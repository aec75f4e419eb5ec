import type { OutputId } from '../../protocol/primitives.ts'
import { type OutputView, readOutputs } from '../../service/outputs/read-output.ts'
import type { GatewayContext } from './builder.ts'

/** Reads of one answer that belong together, in one query. */

interface Batch {
  readonly ids: Set<OutputId>
  readonly views: Promise<ReadonlyMap<OutputId, OutputView>>
}

const openBatches = new WeakMap<GatewayContext, Batch>()

/** An output; everything that an answer asks for at the same time is read at once. `undefined` when it is not known. */
export async function outputInBatch(
  context: GatewayContext,
  outputId: OutputId,
): Promise<OutputView | undefined> {
  const batch = openBatches.get(context) ?? openBatch(context)
  batch.ids.add(outputId)
  return (await batch.views).get(outputId)
}

function openBatch(context: GatewayContext): Batch {
  const ids = new Set<OutputId>()
  const read = async () => {
    // By then every field of the same depth has asked.
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
    openBatches.delete(context)
    const views = await readOutputs(context.services, [...ids])
    return new Map(views.map((view) => [view.outputId, view]))
  }
  const batch = { ids, views: read() }
  openBatches.set(context, batch)
  return batch
}
