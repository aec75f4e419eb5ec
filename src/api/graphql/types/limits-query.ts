import type { Limit, LimitUnit } from '../../limit.ts'
import { limitsOf } from '../../limit-list.ts'
import { builder } from '../builder.ts'
import { enumOf, exposed, exposedOrNull } from '../declare.ts'
import { ErrorCode } from '../error-code.ts'
import { free } from '../execution/prices.ts'

/** The query for the limits of the server. */

const Unit = enumOf<LimitUnit>('LimitUnit', 'The unit of a limit.', {
  BYTES: 'Bytes.',
  CHARACTERS: 'Characters of a text.',
  COUNT: 'A number of items, which the meaning of the limit names.',
  COST: 'Cost units, as in extensions.cost.',
  MILLISECONDS: 'Milliseconds.',
})

const LimitType = builder.objectRef<Limit>('Limit').implement({
  description: 'A limit of the server.',
  fields: (t) => ({
    ...exposed(t, 'String', {
      name: 'The name of the limit, which is the same in every version.',
      meaning: 'The meaning of the limit.',
    }),
    ...exposed(t, 'UInt64', { value: 'The current value. A maximum is inclusive.' }),
    ...exposed(t, Unit, { unit: 'The unit of the value.' }),
    ...exposedOrNull(t, ErrorCode, {
      error:
        'The code of the error for requests that exceed the limit. Null if exceeding it has no error code of the gateway.',
    }),
    ...exposedOrNull(t, 'String', {
      setting: 'The setting with which the operator configures the limit. Null if it is fixed.',
    }),
  }),
})

builder.queryField('limits', (t) =>
  t.field({
    complexity: free,
    type: [LimitType],
    description: 'The limits of the server that clients can reach, with their current values.',
    resolve: (_root, _args, { limits }) => [...limitsOf(limits)],
  }),
)
