import type { ObjectRef } from '@pothos/core'
import { defaultListSize, type KeysetPage } from '../../service/lists/keyset-page.ts'
import { defaultPageSize } from '../../service/updates/list-ledger-updates.ts'
import type { UpdateSort } from '../../service/updates/update-position.ts'
import { builder } from './builder.ts'
import { connection } from './connection.ts'
import { Sort } from './sort.ts'

/** What all lists of stored things have in common: their arguments and their connections. */

type Types = typeof builder.$inferSchemaTypes

/** The arguments of a page of a list that has one order. */
export function pageArgsOf(defaultSize: number) {
  return builder.args((t) => ({
    first: t.int({
      description: `At most so many from the beginning, 0 to 1000. Without first and last the first ${defaultSize}.`,
    }),
    after: t.string({
      description: 'A cursor of this list; only what follows its place, whatever is there now.',
    }),
    last: t.int({ description: 'At most so many from the end, 0 to 1000.' }),
    before: t.string({ description: 'A cursor of this list; only what comes before its place.' }),
  }))
}

/** The arguments of a page of 20 where none are asked for. */
export const pageArgs = pageArgsOf(defaultListSize)

/** What makes the fields of an input. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>

/** The bounds of a filter, both included, with their sentences. */
export function milestoneBounds(t: InputFields, from: string, to: string) {
  return {
    fromMilestone: t.field({ type: 'UInt32', description: from }),
    toMilestone: t.field({ type: 'UInt32', description: to }),
  }
}

/** Which end of a list comes first. */
export function sortArg(defaultValue: UpdateSort) {
  return builder.args((t) => ({
    sort: t.field({
      type: Sort,
      required: true,
      defaultValue,
      description: 'Whether the newest or the oldest comes first.',
    }),
  }))
}

/** The arguments of a list. */
export const listArgs = { ...pageArgs, ...sortArg('NEWEST') }

/** Those of a list that begins with the oldest and has 100 elements where none are asked for. */
export const oldestArgs = { ...pageArgsOf(defaultPageSize), ...sortArg('OLDEST') }

/** How the elements of a page become nodes, where they are not the nodes themselves; and sentences of its types. */
interface ListConnectionOptions<Row, N> {
  readonly edgeDescription?: string
  nodeOf?(row: Row): N
}

/** Declares the types `NAMEConnection` and `NAMEEdge` of a list that is read by positions. */
export function listConnection<N extends object, Row extends object = N>(
  name: string,
  node: ObjectRef<Types, N>,
  description: string,
  options: ListConnectionOptions<Row, N> = {},
) {
  return connection<Row, KeysetPage<Row>, N>(name, node, {
    ...options,
    description,
  })
}
