import type { ObjectRef } from '@pothos/core'
import type { KeysetPage, Placed } from '../../service/lists/keyset-page.ts'
import { builder } from './builder.ts'
import { connection } from './connection.ts'
import { Sort } from './sort.ts'

/** What all lists of stored things have in common: their arguments and their connections. */

type Types = typeof builder.$inferSchemaTypes

/** The arguments of a page of a list that has one order. */
export const pageArgs = builder.args((t) => ({
  first: t.int({
    description:
      'At most so many from the beginning, 0 to 1000. Without first and last the first 20.',
  }),
  after: t.string({
    description: 'A cursor of this list; only what follows its place, whatever is there now.',
  }),
  last: t.int({ description: 'At most so many from the end, 0 to 1000.' }),
  before: t.string({ description: 'A cursor of this list; only what comes before its place.' }),
}))

/** The arguments of a list. */
export const listArgs = {
  ...pageArgs,
  ...builder.args((t) => ({
    sort: t.field({
      type: Sort,
      required: true,
      defaultValue: 'NEWEST',
      description: 'Whether the newest or the oldest comes first.',
    }),
  })),
}

/** The nodes of a page that is read by positions. */
export function rowsOfPage<Row>({ rows }: { readonly rows: readonly Row[] }): readonly Row[] {
  return rows
}

/** Declares the types `NAMEConnection` and `NAMEEdge` of a list that is read by positions. */
export function listConnection<N extends object>(
  name: string,
  node: ObjectRef<Types, N>,
  description: string,
) {
  return connection<Placed<N>, KeysetPage<Placed<N>>, N>(name, node, {
    description,
    edgeDescription: 'An element of the list and its cursor.',
    nodesOf: (page) => page.nodes,
    cursorOf: ({ cursor }) => cursor,
    nodeOf: (element) => element,
  })
}
