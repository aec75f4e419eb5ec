import { ok } from '../../../lib/result.ts'
import type { OutputId } from '../../../protocol/primitives.ts'
import { listMilestoneUpdates } from '../../../service/slots/explorer-lists.ts'
import { maxPageSize } from '../../../service/updates/list-ledger-updates.ts'
import { about, bech32, type FormMembers, id, listOf, object, uint32 } from '../form.ts'
import { pageAt, pageCursor } from '../page-cursor.ts'
import { pageSize } from '../parameters.ts'
import { jsonReply } from '../reply.ts'
import { readRoute } from '../route.ts'
import { isSpent } from '../update-members.ts'
import { byId, byIndex, findMilestone, type MilestoneNaming } from './milestones.ts'

/** Routes for the updates of a milestone, for all owners (rest.md 3.1, 3.8). */

/** The names that a version of the explorer API uses. */
interface Dialect {
  readonly path: string
  readonly naming: MilestoneNaming
  /** The response member with the slot of the milestone. */
  readonly index: FormMembers
}

export const updatesByMilestone = updatesRoute({
  path: '/api/explorer/v2/ledger/updates/by-milestone/{milestoneId}',
  naming: byId('milestoneId'),
  index: { milestoneIndex: uint32 },
})

/** Updates by slot, as in later versions of the original. */
export const updatesBySlot = updatesRoute({
  path: '/api/explorer/v3/ledger/updates/by-slot-index/{index}',
  naming: byIndex,
  index: { slotIndex: uint32 },
})

function updatesRoute({ path, naming, index }: Dialect) {
  const cursor = pageCursor({
    position: '0x[0-9a-fA-F]{76}\\.(true|false)',
    words: 'outputId.isSpent.pageSize',
    read: (text) => {
      const [outputId = '', isSpent] = text.split('.')
      return { outputId: outputId.toLowerCase() as OutputId, isSpent: isSpent === 'true' }
    },
  })
  return readRoute({
    path,
    about:
      'Returns the outputs that a milestone created and spent, ordered by output id, page by page.',
    params: naming.params,
    query: { pageSize, cursor: cursor.parameter },
    reply: jsonReply(
      'A page of updates.',
      object({
        ...index,
        items: listOf(
          object({
            address: about('Owner of the output, as an address of this network.', bech32),
            outputId: id('OutputId'),
            isSpent,
          }),
          maxPageSize,
        ),
        cursor: cursor.next,
      }),
    ),
    errors: [404],
    answer: async (given, services) => {
      const milestone = await findMilestone(naming, given, services)
      if (!milestone.ok) return milestone
      const at = pageAt(given)
      const page = await listMilestoneUpdates(services, milestone.value, at)
      if (!page.ok) return page
      const { updates: items, next } = page.value
      const { slot } = milestone.value
      return ok({
        milestoneIndex: slot,
        slotIndex: slot,
        items,
        cursor: next && `${next.outputId}.${next.isSpent}.${at.pageSize}`,
      })
    },
  })
}
