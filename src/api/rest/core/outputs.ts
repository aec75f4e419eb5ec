import { ok } from '../../../lib/result.ts'
import {
  OutputMetadata,
  OutputWithMetadata,
  OutputWithProof,
} from '../../../protocol/node-answers.ts'
import { OutputId } from '../../../protocol/primitives.ts'
import { outputMetadata } from '../../../service/outputs/output-metadata.ts'
import { readProvenOutput } from '../../../service/outputs/output-proof.ts'
import { readOutput } from '../../../service/outputs/read-output.ts'
import { fieldCost } from '../../graphql/prices.ts'
import { immutable, serialized } from '../reply.ts'
import { orNotFound, routesOf } from './found-route.ts'

/** Outputs, spent or not (rest.md 4.1). */

const named = { base: '/api/core/v3/outputs', name: 'outputId', id: OutputId } as const

const outputReading = routesOf({
  ...named,
  find: async (services, id: OutputId) =>
    orNotFound(ok(await readOutput(services, id)), 'output', id),
})

const provenOutputReading = routesOf({
  ...named,
  cost: fieldCost.proof.field,
  find: async (services, id: OutputId) =>
    orNotFound(await readProvenOutput(services, id), 'output', id),
})

/** An output with the proof that it belongs to its transaction. */
export const outputRoute = provenOutputReading('', {
  about: 'An output, spent or not, with the proof that it belongs to its transaction.',
  reply: immutable(serialized('The output.', OutputWithProof)),
  toAnswer: ({ output, proof: outputIdProof }) => ok({ output, outputIdProof }),
})

/** How an output was created and spent. */
export const outputMetadataRoute = outputReading('/metadata', {
  about: 'The metadata of an output.',
  reply: serialized('When and by which transaction it was created and spent.', OutputMetadata),
  toAnswer: (row, services) => outputMetadata(services, row),
})

/** Everything about an output. */
export const outputFullRoute = provenOutputReading('/full', {
  about: 'An output with its proof and its metadata.',
  reply: serialized('All of it.', OutputWithMetadata),
  toAnswer: async ({ output, proof: outputIdProof, row }, services) => {
    const metadata = await outputMetadata(services, row)
    return metadata.ok ? ok({ output, outputIdProof, metadata: metadata.value }) : metadata
  },
})
