import { ok } from '../../../lib/result.ts'
import {
  OutputMetadata,
  OutputWithMetadata,
  OutputWithProof,
} from '../../../protocol/node-responses.ts'
import { OutputId } from '../../../protocol/primitives.ts'
import { outputMetadata } from '../../../service/outputs/output-metadata.ts'
import { readProvenOutput } from '../../../service/outputs/output-proof.ts'
import { readOutput } from '../../../service/outputs/read-output.ts'
import { fieldCost } from '../../graphql/execution/prices.ts'
import { immutable, serialized } from '../reply.ts'
import { orNotFound, routesOf } from './object-routes.ts'

/** Routes that read spent and unspent outputs (rest.md 4.1). */

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
  about: 'Returns a spent or unspent output with the proof that it belongs to its transaction.',
  reply: immutable(serialized('The output and its proof.', OutputWithProof)),
  toAnswer: ({ output, proof: outputIdProof }) => ok({ output, outputIdProof }),
})

export const outputMetadataRoute = outputReading('/metadata', {
  about: 'Returns the metadata of an output.',
  reply: serialized('Slots and transactions that created and spent the output.', OutputMetadata),
  toAnswer: (row, services) => outputMetadata(services, row),
})

/** An output with its proof and its metadata. */
export const outputFullRoute = provenOutputReading('/full', {
  about: 'Returns an output with its proof and its metadata.',
  reply: serialized('The output, its proof and its metadata.', OutputWithMetadata),
  toAnswer: async ({ output, proof: outputIdProof, row }, services) => {
    const metadata = await outputMetadata(services, row)
    return metadata.ok ? ok({ output, outputIdProof, metadata: metadata.value }) : metadata
  },
})
