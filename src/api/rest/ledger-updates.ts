import { ok } from '../../lib/result.ts'
import { listExplorerUpdates } from '../../service/updates/list-explorer-updates.ts'
import { maximumPageSize } from '../../service/updates/list-ledger-updates.ts'
import { addressVersion } from '../../service/updates/page-version.ts'
import { type PageCursor, parsePageCursor } from '../../service/updates/update-position.ts'
import {
  about,
  asItIs,
  bech32,
  count,
  type FormMembers,
  flag,
  id,
  listOf,
  object,
  uint32,
} from './form.ts'
import { nextCursor } from './page-cursor.ts'
import { anyAddress, number32, type Parameter, pageSize, sort } from './parameters.ts'
import { jsonReply } from './reply.ts'
import { readRoute } from './route.ts'

/** The updates of outputs that an address owned (specification 4.3; rest.md 3.2 to 3.5, 3.8). */

const cursorForm = asItIs({
  type: 'string',
  pattern: '^[0-9]{1,10}\\.0x[0-9a-fA-F]{76}\\.(true|false)\\.[0-9]{1,20}$',
})

const cursor: Parameter<PageCursor | undefined> = {
  shape: about('Of the page before.', cursorForm).shape,
  read: (text) => (text === undefined ? ok(undefined) : parsePageCursor(text)),
}

/** What a version of the explorer calls the same things. */
interface Dialect {
  readonly version: 'v2' | 'v3'
  /** Names of the parameter for the first milestone; a later one counts where the former are left out. */
  readonly start: readonly string[]
  /** The members of an update besides those that both have. */
  readonly item: FormMembers
}

/** By milestone, as in the specification. */
export const ledgerUpdatesByAddress = updatesRoute({
  version: 'v2',
  start: ['startMilestoneIndex'],
  item: {
    milestoneIndex: uint32,
    milestoneTimestamp: about('The end of the milestone in Unix seconds.', count),
  },
})

/** By slot, as in the later line of the original; its explorer and its server have two names for the start. */
export const slotUpdatesByAddress = updatesRoute({
  version: 'v3',
  start: ['startSlot', 'startSlotIndex'],
  item: { slotIndex: uint32 },
})

function updatesRoute({ version, start, item }: Dialect) {
  const starts: { readonly [name: string]: Parameter<number | undefined> } = Object.fromEntries(
    start.map((name) => [name, number32('Where to begin, itself included.')]),
  )
  return readRoute({
    path: `/api/explorer/${version}/ledger/updates/by-address/{address}`,
    about: 'The creations and spendings of outputs that an address owned, page by page.',
    params: { address: anyAddress },
    query: { pageSize, sort, ...starts, cursor },
    reply: jsonReply(
      'A page of them.',
      object({
        address: about('As it was requested.', bech32),
        items: listOf(
          object({
            outputId: id('OutputId'),
            isSpent: about('Whether this spent the output, or created it.', flag),
            ...item,
          }),
          maximumPageSize,
        ),
        cursor: nextCursor(cursorForm),
      }),
    ),
    // Milestones have no page of their own here: a bound is one of the rows of the address.
    version: ({ address }, { store }) => {
      const key = { address: address.key, class: 'OWNED' } as const
      return () => addressVersion(store.read, key)
    },
    answer: async ({ address, pageSize, sort, cursor, ...begin }, services) => {
      const given: Readonly<Record<string, number | undefined>> = begin
      const page = await listExplorerUpdates(services, {
        address: address.key,
        pageSize,
        sort,
        startMilestoneIndex: start.map((name) => given[name]).find((one) => one !== undefined),
        cursor,
      })
      const items = page.updates.map((one) => ({ ...one, slotIndex: one.milestoneIndex }))
      return ok({ address: address.text, items, cursor: page.cursor })
    },
  })
}
