import { assert } from '../../lib/assert.ts'
import { Output } from '../../protocol/outputs.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { OutputRow } from '../../store/rows.ts'
import { createDecodeCache } from '../decode-cache.ts'
import type { Services } from '../services.ts'

/** An output, spent or not. */

/** An output with what became of it. */
export interface OutputView extends OutputRow {
  /** Its meaning, decoded when it is asked for first. */
  readonly output: () => Output
}

/** Reads an output; `undefined` when it is not known. */
export async function readOutput(
  { store }: Pick<Services, 'store'>,
  outputId: OutputId,
): Promise<OutputView | undefined> {
  const row = await store.read.output(outputId)
  return row && viewOfOutput(row)
}

/** Reads those of some outputs that are known, in the order asked; one query. */
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

/** A row of the store in the form that the transports show. */
export function viewOfOutput(row: OutputRow): OutputView {
  let decoded: Output | undefined
  return { ...row, output: () => (decoded ??= decodeOutput(row)) }
}

/** What the outputs mean that were asked for last. */
const decodedOutputs = createDecodeCache<OutputId, Output>(4 * 1024 * 1024)

/** The bytes were checked when the output was booked. */
function decodeOutput({ outputId, bytes }: OutputRow): Output {
  return decodedOutputs(outputId, bytes, () => {
    const output = decode(Output, bytes)
    assert(output.ok, 'a stored output decodes')
    return output.value
  })
}
