import { texts } from '../texts.ts'

/** Whether an update created or spent an output: a sign and a word. */
export function Change({ isSpent }: { readonly isSpent: boolean }) {
  return (
    <span class={isSpent ? 'state state-spent' : 'state state-created'}>
      <span aria-hidden="true">{isSpent ? '−' : '+'}</span>{' '}
      {isSpent ? texts.change.spent : texts.change.created}
    </span>
  )
}
