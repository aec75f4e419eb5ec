import { ok } from '../../lib/result.ts'
import { listExplorerUpdates } from '../../service/updates/list-explorer-updates.ts'
import { maxPageSize } from '../../service/updates/list-ledger-updates.ts'
import { addressVersion } from '../../service/updates/page-version.ts'
import { type PageCursor, parsePageCursor } from '../../service/updates/update-position.ts'
import { about, asItIs, bech32, type FormMembers, id, listOf, object, uint32 } from './form.ts'
import { nextCursor } from './page-cursor.ts'
import { anyAddress, number32, type Parameter, pageSize, sort } from './parameters.ts'
import { jsonReply } from './reply.ts'
import { readRoute } from './route.ts'
import { isSpent, milestoneTimestamp } from './update-members.ts'

/** Routes for the updates of outputs that an address owned (specification 4.3; rest.md 3.2 to 3.5, 3.8). */

const cursorForm = asItIs({
  type: 'string',
  pattern: '^[0-9]{1,10}\\.0x[0-9a-fA-F]{76}\\.(true|false)\\.[0-9]{1,20}$',
})

const cursor: Parameter<PageCursor | undefined> = {
  shape: about('Cursor from the previous page.', cursorForm).shape,
  read: (text) => (text === undefined ? ok(undefined) : parsePageCursor(text)),
}

/** The names that a version of the explorer API uses. */
interface Dialect {
  readonly version: 'v2' | 'v3'
  /** Names of the parameter for the first milestone, by precedence. */
  readonly start: readonly string[]
  /** The members of an update that only this version has. */
  readonly item: FormMembers
}

/** Updates by milestone, as in the specification. */
export const ledgerUpdatesByAddress = updatesRoute({
  version: 'v2',
  start: ['startMilestoneIndex'],
  item: {
    milestoneIndex: uint32,
    milestoneTimestamp,
  },
})

/** Updates by slot, as in later versions of the original, whose explorer and server use two names for the start. */
export const slotUpdatesByAddress = updatesRoute({
  version: 'v3',
  start: ['startSlot', 'startSlotIndex'],
  item: { slotIndex: uint32 },
})

function updatesRoute({ version, start, item }: Dialect) {
  const starts: { readonly [name: string]: Parameter<number | undefined> } = Object.fromEntries(
    start.map((name) => [name, number32('Where the list begins, inclusive.')]),
  )
  return readRoute({
    path: `/api/explorer/${version}/ledger/updates/by-address/{address}`,
    about: 'Returns when outputs that an address owned were created and spent, page by page.',
    params: { address: anyAddress },
    query: { pageSize, sort, ...starts, cursor },
    reply: jsonReply(
      'A page of updates.',
      object({
        address: about('The address as requested.', bech32),
        items: listOf(
          object({
            outputId: id('OutputId'),
            isSpent,
            ...item,
          }),
          maxPageSize,
        ),
        cursor: nextCursor(cursorForm),
      }),
    ),
    // A page depends only on the rows of the address: the start milestone selects among these rows.
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
