import { texts } from '../../texts.ts'

/** Shows the state of a block or a transaction by a sign and a word. */
export function State({ of: state }: { readonly of: string }) {
  return (
    <span class={`state state-${meaningOf(state)}`}>
      <span aria-hidden="true">{signs[meaningOf(state)]}</span> {texts.state[state] ?? state}
    </span>
  )
}

type Meaning = 'done' | 'pending' | 'failed'

function meaningOf(state: string): Meaning {
  if (state === 'FAILED' || state === 'DROPPED') return 'failed'
  return state === 'PENDING' ? 'pending' : 'done'
}

const signs: Readonly<Record<Meaning, string>> = { done: '✓', pending: '◔', failed: '✕' }
