import { texts } from '../../texts.ts'
import { Mark } from './mark.tsx'

/** Shows by a sign and a word whether an update created or spent an output. */
export function Change({ isSpent }: { readonly isSpent: boolean }) {
  const change = isSpent ? 'spent' : 'created'
  return <Mark as={change}>{texts.change[change]}</Mark>
}
