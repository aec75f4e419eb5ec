import { listOutputs } from '../../../service/lists/list-outputs.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { listCost } from '../execution/prices.ts'
import { filterArg, listArgs, listConnection, milestoneBounds } from '../lists.ts'
import { OutputNode } from './output.ts'
import { OutputKind } from './output-kind.ts'
import { conditionFields, conditionsOf } from './unspent-outputs.ts'

/** Lists of spent and unspent outputs. */

const OutputFilter = builder.inputType('OutputFilter', {
  description:
    'Conditions on outputs. An output must meet all of them. Conditions other than isSpent, kinds, fromMilestone and toMilestone are indexed for unspent outputs only, and require isSpent: false.',
  fields: (t) => ({
    isSpent: t.boolean({
      description:
        'Whether the list has only spent outputs, in the order of spending, or only unspent outputs. By default, it has both.',
    }),
    kinds: t.field({
      type: [OutputKind],
      description: 'The allowed kinds of outputs. It cannot be combined with isSpent: true.',
    }),
    ...milestoneBounds(t, 'slot in which the outputs were booked, or spent with isSpent: true'),
    ...conditionFields(t),
  }),
})

export const OutputConnection = listConnection(
  'Output',
  OutputNode,
  'A page of outputs, ordered by the slot in which they were booked or spent and then by id (Relay connection).',
)

builder.queryField('outputs', (t) =>
  t.field({
    type: OutputConnection,
    nullable: true,
    description:
      'A list of all outputs, including outputs that no milestone contains yet, ordered by the slot in which they were booked and then by id.',
    complexity: listCost,
    args: { ...filterArg(OutputFilter, 'outputs'), ...listArgs },
    resolve: async (_root, { filter, ...page }, { services }) => {
      const conditions = orThrow(conditionsOf(services, filter ?? {}))
      const { isSpent, kinds, fromMilestone, toMilestone, ...others } = filter ?? {}
      const conditionNames = Object.entries(others).flatMap(([name, value]) =>
        // An empty list of addresses names no address that an output must have.
        value == null || (Array.isArray(value) && value.length === 0) ? [] : name,
      )
      const selection = { isSpent, kinds, fromMilestone, toMilestone, conditions, conditionNames }
      return orThrow(await listOutputs(services, selection, page))
    },
  }),
)
