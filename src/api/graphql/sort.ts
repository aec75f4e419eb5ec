import { builder } from './builder.ts'

/** The direction of a list. */
export const Sort = builder.enumType('Sort', {
  description: 'The direction of a list.',
  values: {
    NEWEST: { description: 'The newest first.' },
    OLDEST: { description: 'The oldest first.' },
  } as const,
})
