import { enumOf } from './declare.ts'

export const Sort = enumOf('Sort', 'The direction of a list.', {
  NEWEST: 'The newest element first.',
  OLDEST: 'The oldest element first.',
})
