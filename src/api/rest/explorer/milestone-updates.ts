import { ok } from '../../../lib/result.ts'
import type { OutputId } from '../../../protocol/primitives.ts'
import { listMilestoneUpdates } from '../../../service/slots/explore.ts'
import { maximumPageSize } from '../../../service/updates/list-ledger-updates.ts'
import { about, bech32, type FormMembers, flag, id, listOf, object, uint32 } from '../form.ts'
import { pageAt, pageCursor } from '../page-cursor.ts'
import { pageSize } from '../parameters.ts'
import { jsonReply } from '../reply.ts'
import { readRoute } from '../route.ts'
import { byId, byIndex, findMilestone, type MilestoneNaming } from './milestones.ts'

/** The updates of a milestone over all owners (rest.md 3.1, 3.8). */

/** How a version of the explorer names milestones. */
interface Dialect {
  readonly path: string
  readonly naming: MilestoneNaming
  /** The member that has its slot. */
  readonly index: FormMembers
}

/** By the id of the milestone. */
export const updatesByMilestone = updatesRoute({
  path: '/api/explorer/v2/ledger/updates/by-milestone/{milestoneId}',
  naming: byId('milestoneId'),
  index: { milestoneIndex: uint32 },
})

/** By slot, as in the later line of the original. */
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
    about: 'The creations and spendings of outputs in a milestone, in the order of output ids.',
    params: naming.params,
    query: { pageSize, cursor: cursor.parameter },
    reply: jsonReply(
      'A page of them.',
      object({
        ...index,
        items: listOf(
          object({
            address: about('Of the owner, on this network.', bech32),
            outputId: id('OutputId'),
            isSpent: about('Whether this spent the output, or created it.', flag),
          }),
          maximumPageSize,
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
