import { err, ok, type Result } from '../../../lib/result.ts'
import { SlotCommitment } from '../../../protocol/commitment.ts'
import { UtxoChanges, UtxoChangesFull } from '../../../protocol/node-responses.ts'
import { CommitmentId } from '../../../protocol/primitives.ts'
import type { Services } from '../../../service/services.ts'
import {
  type CommitmentName,
  type CommittedSlotRow,
  decodeCommitment,
  findCommitment,
} from '../../../service/slots/read-commitment.ts'
import type { LimitError } from '../../errors/api-errors.ts'
import { type Parameter, pathId, pathSlot } from '../parameters.ts'
import { type ResponseDescription, serializedBytes, serializedResponse } from '../reply.ts'
import type { RestRequest } from '../request.ts'
import type { RouteResponse } from '../response.ts'
import { type Route, route } from '../route.ts'
import { answerChanges, asId, asOutputWithId } from './slot-changes.ts'

/** Routes for slot commitments and for the changes of their slots, by id and by slot (rest.md 4.1). */

/** A way to identify a commitment in a path. */
interface Naming {
  /** The path after `commitments/`. */
  readonly path: string
  readonly name: string
  readonly parameter: Parameter<CommitmentName>
}

const namings: readonly Naming[] = [
  { path: '{commitmentId}', name: 'commitmentId', parameter: pathId(CommitmentId) },
  { path: 'by-slot/{slot}', name: 'slot', parameter: pathSlot },
]

const commitmentReply = serializedBytes('The commitment.', SlotCommitment)

/** Three routes for each way to identify a commitment. */
export const commitmentRoutes: readonly Route[] = namings.flatMap((naming) => [
  slotReading(naming, '', {
    about: 'Returns the commitment of a slot. An id of zeros stands for the newest commitment.',
    reply: commitmentReply,
    answer: async ({ bytes }, { request }) =>
      ok(commitmentReply.respond(request, { bytes, value: () => decodeCommitment({ bytes }) })),
  }),
  slotReading(naming, '/utxo-changes', {
    about: 'Returns the sorted ids of the outputs that a slot created and spent.',
    reply: serializedResponse('The ids of the outputs.', UtxoChanges),
    answer: (found, asked) => answerChanges(found, { ...asked, form: asId }),
  }),
  slotReading(naming, '/utxo-changes/full', {
    about: 'Returns the outputs that a slot created and spent, sorted by id.',
    reply: serializedResponse('The outputs with their ids.', UtxoChangesFull),
    answer: (found, asked) => answerChanges(found, { ...asked, form: asOutputWithId }),
  }),
])

function slotReading(
  { path, name, parameter }: Naming,
  rest: string,
  {
    about,
    reply,
    answer,
  }: {
    about: string
    reply: ResponseDescription
    answer: (
      found: CommittedSlotRow,
      asked: { readonly services: Services; readonly request: RestRequest },
    ) => Promise<Result<RouteResponse, LimitError>>
  },
) {
  return route({
    method: 'GET',
    about,
    path: `/api/core/v3/commitments/${path}${rest}`,
    params: { [name]: parameter },
    answers: { 200: reply },
    errors: [404],
    answer: async (given, services, request) => {
      const id = given[name] as CommitmentName
      const found = await findCommitment(services, id)
      if (found !== undefined) return await answer(found, { services, request })
      const what = typeof id === 'number' ? 'commitment of slot' : 'commitment'
      return err({ code: 'NOT_FOUND', what, id: String(id) })
    },
  })
}
