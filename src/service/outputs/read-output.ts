import { Output } from '../../protocol/outputs.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { OutputRow } from '../../store/rows.ts'
import { createDecodeCache } from '../decode-cache.ts'
import type { Services } from '../services.ts'

/** Reads outputs, spent or unspent. */

export interface OutputView extends OutputRow {
  /** The decoded output; decoded at the first call. */
  readonly output: () => Output
}

/** Reads an output; `undefined` if it is not known. */
export async function readOutput(
  { store }: Pick<Services, 'store'>,
  outputId: OutputId,
): Promise<OutputView | undefined> {
  const row = await store.read.output(outputId)
  return row && viewOfOutput(row)
}

/** Reads outputs in the order of their ids in the request, in one statement. Unknown outputs are left out. */
export async function readOutputs(
  { store }: Pick<Services, 'store'>,
  outputIds: readonly OutputId[],
): Promise<readonly OutputView[]> {
  const rows = await store.read.outputs(outputIds)
  const rowById = new Map(rows.map((row) => [row.outputId, row]))
  return outputIds.flatMap((id) => {
    const row = rowById.get(id)
    return row === undefined ? [] : [viewOfOutput(row)]
  })
}

/** A row of the store as the view that the transports render. */
export function viewOfOutput(row: OutputRow): OutputView {
  let decoded: Output | undefined
  return { ...row, output: () => (decoded ??= decodeOutput(row)) }
}

const decodedOutputs = createDecodeCache<OutputId, Output>(4 * 1024 * 1024)

/** Decodes a stored output, whose bytes were checked when it was booked. */
function decodeOutput({ outputId, bytes }: OutputRow): Output {
  return decodedOutputs(outputId, bytes, () => decodeStored(Output, bytes))
}
