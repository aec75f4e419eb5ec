import { texts } from '../../texts.ts'
import { Mark } from './mark.tsx'

/** Shows the state of a block or a transaction by a sign and a word. */
export function State({ of: state }: { readonly of: string }) {
  return <Mark as={meaningOf(state)}>{texts.state[state] ?? state}</Mark>
}

function meaningOf(state: string) {
  if (state === 'FAILED' || state === 'DROPPED') return 'failed'
  return state === 'PENDING' ? 'pending' : 'done'
}
