import type { OutputId } from '../../../protocol/primitives.ts'
import { listMilestoneUpdates } from '../../../service/slots/explore.ts'
import { toRest } from '../../errors.ts'
import { about, bech32, flag, listOf, named, object, optional, uint32 } from '../openapi/shape.ts'
import { pageSizeParameter, readPageAt } from '../query.ts'
import { json, type Parameters, type Route } from '../route.ts'
import { byId, findMilestone, type MilestoneNaming, readIndex } from './milestones.ts'

/** The updates of a milestone over all owners (rest.md 3.1, 3.8). */

const placeForm = /^0x[0-9a-fA-F]{76}\.(true|false)$/
const cursorShape = {
  type: 'string',
  pattern: '^0x[0-9a-fA-F]{76}\\.(true|false)\\.[0-9]{1,20}$',
}

/** How a version of the explorer names milestones. */
interface Dialect {
  readonly path: string
  readonly params: Parameters
  readonly naming: Pick<MilestoneNaming, 'read'>
  readonly index: 'milestoneIndex' | 'slotIndex'
}

const milestoneId = byId('milestoneId')

/** By the id of the milestone. */
export const updatesByMilestone = updatesRoute({
  path: `/api/explorer/v2/ledger/updates/by-milestone/${milestoneId.path}`,
  params: milestoneId.params,
  naming: milestoneId,
  index: 'milestoneIndex',
})

/** By slot, as in the later line of the original. */
export const updatesBySlot = updatesRoute({
  path: '/api/explorer/v3/ledger/updates/by-slot-index/{index}',
  params: { index: uint32 },
  naming: { read: readIndex },
  index: 'slotIndex',
})

function updatesRoute({ path, params, naming, index }: Dialect): Route {
  return {
    method: 'GET',
    path,
    about: 'The creations and spendings of outputs in a milestone, in the order of output ids.',
    params,
    query: { pageSize: pageSizeParameter, cursor: about('Of the page before.', cursorShape) },
    answers: {
      200: {
        about: 'A page of them.',
        json: object({
          [index]: uint32,
          items: listOf(
            object({
              address: about('Of the owner, on this network.', bech32),
              outputId: named('OutputId'),
              isSpent: about('Whether this spent the output, or created it.', flag),
            }),
            1000,
          ),
          cursor: optional(
            about('Where the next page begins; absent where there is none.', cursorShape),
          ),
        }),
      },
    },
    errors: [404],
    answer: async (request, services) => {
      const at = readPageAt(request.query, placeForm, 'outputId.isSpent.pageSize')
      if (!at.ok) return toRest(at.error)
      const milestone = await findMilestone(naming, request, services)
      if (!milestone.ok) return toRest(milestone.error)
      const { place, pageSize } = at.value
      const from = place === undefined ? undefined : readPlace(place)
      const page = await listMilestoneUpdates(services, milestone.value, { from, pageSize })
      if (!page.ok) return toRest(page.error)
      const { updates: items, next } = page.value
      const cursor = next && `${next.outputId}.${next.isSpent}.${pageSize}`
      const { slot } = milestone.value
      return json(200, { [index]: slot, items, ...(cursor !== undefined && { cursor }) })
    },
  }
}

/** The text was held against its form before. */
function readPlace(place: string) {
  const [outputId = '', isSpent] = place.split('.')
  return { outputId: outputId.toLowerCase() as OutputId, isSpent: isSpent === 'true' }
}
