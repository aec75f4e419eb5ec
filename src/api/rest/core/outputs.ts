import { OutputIdProof } from '../../../protocol/commitment.ts'
import { Output } from '../../../protocol/outputs.ts'
import { OutputId } from '../../../protocol/primitives.ts'
import { encode, print } from '../../../protocol/schema/schema.ts'
import { readProvenOutput } from '../../../service/output-proof.ts'
import { toRest } from '../../errors.ts'
import { json, type Route } from '../route.ts'
import { binaryType, pathId, wantsBytes } from './ids.ts'

/** An output, spent or not, with the proof that it belongs to its transaction (rest.md 4.1). */
export const outputRoute: Route = {
  method: 'GET',
  path: '/api/core/v3/outputs/{outputId}',
  query: [],
  answer: async (request, services) => {
    const id = pathId(request, 'outputId', OutputId)
    if (!id.ok) return toRest(id.error)
    const found = await readProvenOutput(services, id.value)
    if (found === undefined) {
      return toRest({ code: 'NOT_FOUND', what: 'output', id: id.value })
    }
    const { output, proof, row } = found
    if (wantsBytes(request)) {
      const body = Buffer.concat([row.bytes, encode(OutputIdProof, proof)])
      return { status: 200, headers: { 'content-type': binaryType }, body }
    }
    return json(200, { output: print(Output, output), outputIdProof: print(OutputIdProof, proof) })
  },
}
