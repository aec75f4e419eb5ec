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
import type { NotFound, PathIdMalformed } from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import type { RestRequest, Route } from '../route.ts'
import { answered, answerWith } from './answer.ts'
import { pathId } from './ids.ts'

/** Outputs, spent or not (rest.md 4.1). */

const params = { outputId: shapeOf(OutputId) }

/** An output with the proof that it belongs to its transaction. */
export const outputRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/outputs/{outputId}',
  about: 'An output, spent or not, with the proof that it belongs to its transaction.',
  params,
  answers: { 200: answered('The output.', OutputWithProof) },
  errors: [404],
  answer: async (request, services) => {
    const found = await findProven(request, services)
    if (!found.ok) return toRest(found.error)
    const { output, proof } = found.value
    return answerWith(request, OutputWithProof, { output, outputIdProof: proof })
  },
}

/** What became of an output. */
export const outputMetadataRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/outputs/{outputId}/metadata',
  about: 'What became of an output.',
  params,
  answers: { 200: answered('How it came, and how it went.', OutputMetadata) },
  errors: [404],
  answer: async (request, services) => {
    const id = pathId(request, 'outputId', OutputId)
    if (!id.ok) return toRest(id.error)
    const row = await readOutput(services, id.value)
    if (row === undefined) return toRest(unknownOutput(id.value))
    const metadata = await outputMetadata(services, row)
    if (!metadata.ok) return toRest(metadata.error)
    return answerWith(request, OutputMetadata, metadata.value)
  },
}

/** Everything about an output. */
export const outputFullRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/outputs/{outputId}/full',
  about: 'An output with its proof and what became of it.',
  params,
  answers: { 200: answered('All of it.', OutputWithMetadata) },
  errors: [404],
  answer: async (request, services) => {
    const found = await findProven(request, services)
    if (!found.ok) return toRest(found.error)
    const { output, proof, row } = found.value
    const metadata = await outputMetadata(services, row)
    if (!metadata.ok) return toRest(metadata.error)
    return answerWith(request, OutputWithMetadata, {
      output,
      outputIdProof: proof,
      metadata: metadata.value,
    })
  },
}

async function findProven(
  request: RestRequest,
  services: Services,
): Promise<Result<ProvenOutput, PathIdMalformed | NotFound | OutputNotServed>> {
  const id = pathId(request, 'outputId', OutputId)
  if (!id.ok) return id
  const found = await readProvenOutput(services, id.value)
  if (!found.ok) return found
  return found.value === undefined ? err(unknownOutput(id.value)) : ok(found.value)
}

function unknownOutput(id: OutputId): NotFound {
  return { code: 'NOT_FOUND', what: 'output', id }
}
