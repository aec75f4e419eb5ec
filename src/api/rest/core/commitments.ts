import { err, ok, type Result } from '../../../lib/result.ts'
import { SlotCommitment } from '../../../protocol/commitment.ts'
import { UtxoChanges, UtxoChangesFull } from '../../../protocol/node-answers.ts'
import { CommitmentId, SlotIndex } from '../../../protocol/primitives.ts'
import type { Services } from '../../../service/services.ts'
import {
  type CommitmentName,
  type CommittedSlotRow,
  decodeCommitment,
  findCommitment,
  outputWithId,
  readSlotChanges,
} from '../../../service/slots/read-commitment.ts'
import { parseSlot } from '../../../service/updates/update-position.ts'
import type { NotFound, PathIdMalformed, PathSlotMalformed } from '../../api-errors.ts'
import { toRest } from '../../errors.ts'
import { shapeOf } from '../openapi/from-schema.ts'
import { type Parameters, param, type RestRequest, type Route } from '../route.ts'
import { answered, answerWith, answerWithBytes } from './answer.ts'
import { pathId } from './ids.ts'

/** Slot commitments and what their slots changed, by id and by slot (rest.md 4.1). */

/** One way to name a commitment. */
interface Naming {
  /** The end of the path. */
  readonly path: string
  readonly params: Parameters
  read(request: RestRequest): Result<CommitmentName, PathIdMalformed | PathSlotMalformed>
}

const byId: Naming = {
  path: '{commitmentId}',
  params: { commitmentId: shapeOf(CommitmentId) },
  read: (request) => pathId(request, 'commitmentId', CommitmentId),
}

const bySlot: Naming = {
  path: 'by-slot/{slot}',
  params: { slot: shapeOf(SlotIndex) },
  read: (request) => {
    const slot = parseSlot(param(request, 'slot'))
    return slot === undefined ? err({ code: 'PATH_SLOT_MALFORMED', name: 'slot' }) : ok(slot)
  },
}

/** The six routes. */
export const commitmentRoutes: readonly Route[] = [byId, bySlot].flatMap((naming) => [
  commitmentRoute(naming),
  changesRoute(naming),
  changesFullRoute(naming),
])

function commitmentRoute(naming: Naming): Route {
  return {
    ...common(naming, ''),
    about: 'The commitment to a slot. The id of zeros names the newest.',
    answers: { 200: answered('The commitment.', SlotCommitment) },
    answer: async (request, services) => {
      const found = await find(naming, request, services)
      if (!found.ok) return toRest(found.error)
      const { bytes } = found.value
      return answerWithBytes(request, SlotCommitment, {
        bytes,
        value: () => decodeCommitment({ bytes }),
      })
    },
  }
}

function changesRoute(naming: Naming): Route {
  return {
    ...common(naming, '/utxo-changes'),
    about: 'The outputs that came and went in a slot, in the order of their ids.',
    answers: { 200: answered('Their ids.', UtxoChanges) },
    answer: async (request, services) => {
      const found = await find(naming, request, services)
      if (!found.ok) return toRest(found.error)
      const { commitmentId, slot } = found.value
      const { created, consumed } = await readSlotChanges(services, slot)
      return answerWith(request, UtxoChanges, {
        commitmentId,
        createdOutputs: created.map(({ outputId }) => outputId),
        consumedOutputs: consumed.map(({ outputId }) => outputId),
      })
    },
  }
}

function changesFullRoute(naming: Naming): Route {
  return {
    ...common(naming, '/utxo-changes/full'),
    about: 'The outputs that came and went in a slot, in the order of their ids, themselves.',
    answers: { 200: answered('The outputs with their ids.', UtxoChangesFull) },
    answer: async (request, services) => {
      const found = await find(naming, request, services)
      if (!found.ok) return toRest(found.error)
      const { commitmentId, slot } = found.value
      const { created, consumed } = await readSlotChanges(services, slot)
      return answerWith(request, UtxoChangesFull, {
        commitmentId,
        createdOutputs: created.map(outputWithId),
        consumedOutputs: consumed.map(outputWithId),
      })
    },
  }
}

function common({ path, params }: Naming, rest: string) {
  return {
    method: 'GET',
    path: `/api/core/v3/commitments/${path}${rest}`,
    params,
    errors: [404],
  } as const
}

async function find(
  naming: Naming,
  request: RestRequest,
  services: Services,
): Promise<Result<CommittedSlotRow, PathIdMalformed | PathSlotMalformed | NotFound>> {
  const name = naming.read(request)
  if (!name.ok) return name
  const found = await findCommitment(services, name.value)
  if (found !== undefined) return ok(found)
  const what = typeof name.value === 'number' ? 'commitment to slot' : 'commitment'
  return err({ code: 'NOT_FOUND', what, id: String(name.value) })
}
