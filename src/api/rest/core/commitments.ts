import { err, ok } from '../../../lib/result.ts'
import { mapInTurns } from '../../../lib/turns.ts'
import { SlotCommitment } from '../../../protocol/commitment.ts'
import { UtxoChanges, UtxoChangesFull } from '../../../protocol/node-answers.ts'
import { CommitmentId } from '../../../protocol/primitives.ts'
import type { Services } from '../../../service/services.ts'
import {
  type CommitmentName,
  type CommittedSlotRow,
  decodeCommitment,
  findCommitment,
  outputWithId,
  readSlotChanges,
  type SlotChanges,
} from '../../../service/slots/read-commitment.ts'
import { type Parameter, pathId, pathSlot } from '../parameters.ts'
import { type Reply, serialized, serializedBytes } from '../reply.ts'
import { type Route, readRoute } from '../route.ts'

/** Slot commitments and what their slots changed, by id and by slot (rest.md 4.1). */

/** One way in which a path names a commitment. */
interface Naming {
  /** The end of the path. */
  readonly path: string
  readonly name: string
  readonly parameter: Parameter<CommitmentName>
}

const namings: readonly Naming[] = [
  { path: '{commitmentId}', name: 'commitmentId', parameter: pathId(CommitmentId) },
  { path: 'by-slot/{slot}', name: 'slot', parameter: pathSlot },
]

/** The six routes. */
export const commitmentRoutes: readonly Route[] = namings.flatMap((naming) => [
  slotReading(naming, '', {
    about: 'The commitment to a slot. The id of zeros names the newest.',
    reply: serializedBytes('The commitment.', SlotCommitment),
    toAnswer: async ({ bytes }) => ({ bytes, value: () => decodeCommitment({ bytes }) }),
  }),
  slotReading(naming, '/utxo-changes', {
    about: 'The ids of the outputs that a slot created and spent, sorted.',
    reply: serialized('Their ids.', UtxoChanges),
    toAnswer: changesAs(({ outputId }) => outputId),
  }),
  slotReading(naming, '/utxo-changes/full', {
    about: 'The outputs that a slot created and spent, sorted by their ids.',
    reply: serialized('The outputs with their ids.', UtxoChangesFull),
    toAnswer: changesAs(outputWithId),
  }),
])

/** Answers what a slot changed, each output in one form. */
function changesAs<T>(print: (row: SlotChanges['created'][number]) => T) {
  return async ({ commitmentId, slot }: CommittedSlotRow, services: Services) => {
    const { created, consumed } = await readSlotChanges(services, slot)
    return {
      commitmentId,
      createdOutputs: await mapInTurns(created, print),
      consumedOutputs: await mapInTurns(consumed, print),
    }
  }
}

function slotReading<T>(
  { path, name, parameter }: Naming,
  rest: string,
  {
    toAnswer,
    ...described
  }: {
    about: string
    reply: Reply<T>
    toAnswer: (found: CommittedSlotRow, services: Services) => Promise<T>
  },
) {
  return readRoute({
    ...described,
    path: `/api/core/v3/commitments/${path}${rest}`,
    params: { [name]: parameter },
    errors: [404],
    answer: async (given, services) => {
      const id = given[name] as CommitmentName
      const found = await findCommitment(services, id)
      if (found !== undefined) return ok(await toAnswer(found, services))
      const what = typeof id === 'number' ? 'commitment to slot' : 'commitment'
      return err({ code: 'NOT_FOUND', what, id: String(id) })
    },
  })
}
