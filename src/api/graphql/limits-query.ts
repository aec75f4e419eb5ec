import type { Limit, LimitUnit } from '../limit.ts'
import { limitsOf } from '../limit-list.ts'
import { builder } from './builder.ts'
import { ErrorCode } from './error-code.ts'
import { free } from './prices.ts'

/** The limits of the server, as a query. */

const units: { readonly [U in LimitUnit]: { readonly description: string } } = {
  BYTES: { description: 'Bytes.' },
  CHARACTERS: { description: 'Characters of a text.' },
  COUNT: { description: 'How many there may be of what the meaning says.' },
  COST: { description: 'The units of extensions.cost.' },
  MILLISECONDS: { description: 'Milliseconds.' },
}

const Unit = builder.enumType('LimitUnit', {
  description: 'What a limit counts.',
  values: units,
})

const LimitType = builder.objectRef<Limit>('Limit').implement({
  description: 'A limit of the server.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The same in every version of the program.' }),
    value: t.field({
      type: 'UInt64',
      description: 'The value that is in force, itself allowed.',
      resolve: ({ value }) => BigInt(value),
    }),
    unit: t.expose('unit', { type: Unit, description: 'What the value counts.' }),
    meaning: t.exposeString('meaning', { description: 'What is limited, in a sentence.' }),
    error: t.field({
      type: ErrorCode,
      nullable: true,
      description: 'The code of what exceeds it; null where nothing is refused by a code of ours.',
      resolve: ({ error }) => error,
    }),
    setting: t.string({
      nullable: true,
      description: 'The setting of the operator; null where it is fixed.',
      resolve: ({ setting }) => setting,
    }),
  }),
})

builder.queryField('limits', (t) =>
  t.field({
    complexity: free,
    type: [LimitType],
    description: 'Every limit of the server that a client can meet, with its value in force.',
    resolve: (_root, _args, { limits }) => [...limitsOf(limits)],
  }),
)
