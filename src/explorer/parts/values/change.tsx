import { texts } from '../../texts.ts'

/** Shows by a sign and a word whether an update created or spent an output. */
export function Change({ isSpent }: { readonly isSpent: boolean }) {
  return (
    <span class={isSpent ? 'state state-spent' : 'state state-created'}>
      <span aria-hidden="true">{isSpent ? '−' : '+'}</span>{' '}
      {isSpent ? texts.change.spent : texts.change.created}
    </span>
  )
}
