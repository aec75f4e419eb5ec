import type { ListPage } from '../../service/chains/page.ts'
import { defaultPageSize } from '../../service/chains/page.ts'
import { maximumPageSize } from '../../service/updates/list-ledger-updates.ts'
import type { builder } from './builder.ts'
import { UpdateSort } from './ledger-updates.ts'
import { itemsCost, type Price } from './prices.ts'

/** What all lists of chains and of their states have in common. */

type Arguments = Parameters<Parameters<typeof builder.queryFields>[0]>[0]['arg']

/** The arguments of a page, without an order. */
export function pageArgs(arg: Arguments) {
  return {
    first: arg.int({
      description: `The first so many, 0 to ${maximumPageSize}; without first and last ${defaultPageSize}.`,
    }),
    after: arg.string({
      description: 'Only what comes after the place of this cursor, whatever has become of it.',
    }),
    last: arg.int({ description: `The last so many, 0 to ${maximumPageSize}.` }),
    before: arg.string({ description: 'Only what comes before the place of this cursor.' }),
  }
}

/** The arguments of a page with its order. */
export function sortedPageArgs(arg: Arguments) {
  const description = 'Whether the newest or the oldest comes first.'
  return {
    ...pageArgs(arg),
    sort: arg({ type: UpdateSort, required: true, defaultValue: 'NEWEST', description }),
  }
}

/** The price of a page. */
export function listCost({
  first,
  last,
}: {
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
}): Price {
  const asked = first ?? last ?? defaultPageSize
  return itemsCost(Math.min(Math.max(1, asked), maximumPageSize))
}

/** The nodes of a page. */
export function rowsOfPage<Row>({ rows }: Pick<ListPage<Row>, 'rows'>): readonly Row[] {
  return rows
}
