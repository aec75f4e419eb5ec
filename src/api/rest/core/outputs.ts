import { err, ok, type Result } from '../../../lib/result.ts'
import {
  OutputMetadata,
  OutputWithMetadata,
  OutputWithProof,
} from '../../../protocol/node-answers.ts'
import { OutputId } from '../../../protocol/primitives.ts'
import type { OutputNotServed } from '../../../service/outputs/output-life.ts'
import { outputMetadata } from '../../../service/outputs/output-metadata.ts'
import { type ProvenOutput, readProvenOutput } from '../../../service/outputs/output-proof.ts'
import { readOutput } from '../../../service/outputs/read-output.ts'
import type { Services } from '../../../service/services.ts'
import type { NotFound } from '../../api-errors.ts'
import { pathId } from '../parameters.ts'
import { serialized } from '../reply.ts'
import { readRoute } from '../route.ts'

/** Outputs, spent or not (rest.md 4.1). */

const params = { outputId: pathId(OutputId) }

/** An output with the proof that it belongs to its transaction. */
export const outputRoute = readRoute({
  path: '/api/core/v3/outputs/{outputId}',
  about: 'An output, spent or not, with the proof that it belongs to its transaction.',
  params,
  reply: serialized('The output.', OutputWithProof),
  errors: [404],
  answer: async ({ outputId }, services) => {
    const found = await findProven(services, outputId)
    if (!found.ok) return found
    const { output, proof: outputIdProof } = found.value
    return ok({ output, outputIdProof })
  },
})

/** How an output was created and spent. */
export const outputMetadataRoute = readRoute({
  path: '/api/core/v3/outputs/{outputId}/metadata',
  about: 'The metadata of an output.',
  params,
  reply: serialized('When and by which transaction it was created and spent.', OutputMetadata),
  errors: [404],
  answer: async ({ outputId }, services) => {
    const row = await readOutput(services, outputId)
    return row === undefined ? err(unknownOutput(outputId)) : await outputMetadata(services, row)
  },
})

/** Everything about an output. */
export const outputFullRoute = readRoute({
  path: '/api/core/v3/outputs/{outputId}/full',
  about: 'An output with its proof and its metadata.',
  params,
  reply: serialized('All of it.', OutputWithMetadata),
  errors: [404],
  answer: async ({ outputId }, services) => {
    const found = await findProven(services, outputId)
    if (!found.ok) return found
    const { output, proof: outputIdProof, row } = found.value
    const metadata = await outputMetadata(services, row)
    return metadata.ok ? ok({ output, outputIdProof, metadata: metadata.value }) : metadata
  },
})

async function findProven(
  services: Services,
  id: OutputId,
): Promise<Result<ProvenOutput, NotFound | OutputNotServed>> {
  const found = await readProvenOutput(services, id)
  if (!found.ok) return found
  return found.value === undefined ? err(unknownOutput(id)) : ok(found.value)
}

function unknownOutput(id: OutputId): NotFound {
  return { code: 'NOT_FOUND', what: 'output', id }
}
