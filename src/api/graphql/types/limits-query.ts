import type { Limit, LimitUnit } from '../../limit.ts'
import { limitsOf } from '../../limit-list.ts'
import { builder } from '../builder.ts'
import { ErrorCode } from '../error-code.ts'
import { free } from '../execution/prices.ts'

/** The query for the limits of the server. */

const units: { readonly [U in LimitUnit]: { readonly description: string } } = {
  BYTES: { description: 'Bytes.' },
  CHARACTERS: { description: 'Characters of a text.' },
  COUNT: { description: 'A number of items, which the meaning of the limit names.' },
  COST: { description: 'Cost units, as in extensions.cost.' },
  MILLISECONDS: { description: 'Milliseconds.' },
}

const Unit = builder.enumType('LimitUnit', {
  description: 'The unit of a limit.',
  values: units,
})

const LimitType = builder.objectRef<Limit>('Limit').implement({
  description: 'A limit of the server.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'The name of the limit, which is the same in every version.',
    }),
    value: t.field({
      type: 'UInt64',
      description: 'The current maximum, inclusive.',
      resolve: ({ value }) => BigInt(value),
    }),
    unit: t.expose('unit', { type: Unit, description: 'The unit of the value.' }),
    meaning: t.exposeString('meaning', { description: 'The meaning of the limit.' }),
    error: t.field({
      type: ErrorCode,
      nullable: true,
      description:
        'The code of the error for requests that exceed the limit. Null if exceeding it has no error code of the gateway.',
      resolve: ({ error }) => error,
    }),
    setting: t.string({
      nullable: true,
      description: 'The setting with which the operator configures the limit. Null if it is fixed.',
      resolve: ({ setting }) => setting,
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
