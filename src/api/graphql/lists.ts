import type { InputObjectRef, ObjectRef } from '@pothos/core'
import { defaultListSize, type KeysetPage } from '../../service/lists/keyset-page.ts'
import { defaultPageSize } from '../../service/updates/list-ledger-updates.ts'
import type { UpdateSort } from '../../service/updates/update-position.ts'
import { builder } from './builder.ts'
import { type ConnectionOptions, connection } from './connection.ts'
import { Sort } from './sort.ts'

/** Arguments and connections of lists. */

type Types = typeof builder.$inferSchemaTypes

/** Returns the arguments of a page of a list that has one order. */
export function pageArgsOf(defaultSize: number) {
  return builder.args((t) => ({
    first: t.int({
      description: `The maximum number of elements from the beginning of the list, from 0 to 1000. Defaults to ${defaultSize} if last is not given.`,
    }),
    after: t.string({
      description:
        'A cursor of this list: only elements after its position are returned. The element at that position need not exist any more.',
    }),
    last: t.int({
      description: 'The maximum number of elements from the end of the list, from 0 to 1000.',
    }),
    before: t.string({
      description: 'A cursor of this list: only elements before its position are returned.',
    }),
  }))
}

/** The arguments of a page with a default size of 20. */
export const pageArgs = pageArgsOf(defaultListSize)

export type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>

/** Returns the inclusive bounds of a filter. `noun` names what they bound. */
export function milestoneBounds(t: InputFields, noun: string) {
  const bound = (end: 'first' | 'last') =>
    t.field({ type: 'UInt32', description: `The index of the ${end} ${noun}, inclusive.` })
  return { fromMilestone: bound('first'), toMilestone: bound('last') }
}

/** Returns the argument for the direction of a list. */
function sortArg(defaultValue: UpdateSort) {
  return builder.args((t) => ({
    sort: t.field({
      type: Sort,
      required: true,
      defaultValue,
      description: 'The direction of the list: the newest or the oldest element first.',
    }),
  }))
}

export const listArgs = { ...pageArgs, ...sortArg('NEWEST') }

/** Returns the argument for the conditions of a list of `noun`. */
export function filterArg<T extends object>(type: InputObjectRef<Types, T>, noun: string) {
  const description = `Conditions on the ${noun}. Without a filter, all ${noun} are returned.`
  return builder.args((t) => ({ filter: t.field({ type, description }) }))
}

/** The arguments of a list that starts with the oldest element and has a default page size of 100. */
export const oldestArgs = { ...pageArgsOf(defaultPageSize), ...sortArg('OLDEST') }

/** Declares the types `NAMEConnection` and `NAMEEdge` of a list with keyset pagination. */
export function listConnection<N extends object, Row extends object = N>(
  name: string,
  node: ObjectRef<Types, N>,
  description: string,
  options: Omit<ConnectionOptions<Row, N>, 'description'> = {},
) {
  return connection<Row, KeysetPage<Row>, N>(name, node, { ...options, description })
}
