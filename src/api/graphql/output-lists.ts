import { listOutputs } from '../../service/lists/list-outputs.ts'
import { orThrow } from '../errors.ts'
import { builder } from './builder.ts'
import { listArgs, listConnection, milestoneBounds } from './lists.ts'
import { OutputNode } from './output.ts'
import { OutputKind } from './output-kind.ts'
import { listCost } from './prices.ts'
import { conditionFields, conditionsOf } from './unspent-outputs.ts'

/** Lists of outputs, spent or not. */

const OutputFilter = builder.inputType('OutputFilter', {
  description:
    'Conditions that outputs must all meet. Beside kinds, isSpent and the milestones, all are kept of unspent outputs alone, and need isSpent: false.',
  fields: (t) => ({
    isSpent: t.boolean({
      description:
        'Only spent ones, in the order of spending, or only unspent ones. Left out: both.',
    }),
    kinds: t.field({
      type: [OutputKind],
      description: 'Only outputs of these kinds. Not beside isSpent: true.',
    }),
    ...milestoneBounds(
      t,
      'Only outputs booked in this slot or later; with isSpent: true, spent in it or later.',
      'Only outputs booked in this slot or earlier; with isSpent: true, spent in it or earlier.',
    ),
    ...conditionFields(t),
  }),
})

/** A page of outputs. */
export const OutputConnection = listConnection(
  'Output',
  OutputNode,
  'A page of outputs, by the slot they were booked or spent in and by id (Relay connection).',
)

builder.queryField('outputs', (t) =>
  t.field({
    type: OutputConnection,
    nullable: true,
    description:
      'All outputs, also those that no milestone has yet; by the slot they were booked in, and in one slot by id.',
    complexity: listCost,
    args: {
      filter: t.arg({ type: OutputFilter, description: 'Only what meets all of these.' }),
      ...listArgs,
    },
    resolve: async (_root, { filter, ...page }, { services }) => {
      const conditions = orThrow(conditionsOf(services, filter ?? {}))
      const { isSpent, kinds, fromMilestone, toMilestone, ...others } = filter ?? {}
      const conditionNames = Object.entries(others).flatMap(([name, value]) =>
        value == null ? [] : name,
      )
      const asked = { isSpent, kinds, fromMilestone, toMilestone, conditions, conditionNames }
      return orThrow(await listOutputs(services, asked, page))
    },
  }),
)
