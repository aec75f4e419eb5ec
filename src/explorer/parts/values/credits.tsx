import { grouped } from '../../format.ts'
import { Groups } from './amount.tsx'

/** Block issuance credits: mana with its sign. */
export function Credits({ of: credits }: { readonly of: string }) {
  const isDebt = credits.startsWith('-')
  return (
    <data value={credits} class={isDebt ? 'amount state-failed' : 'amount'}>
      {credits !== '0' && (isDebt ? '−' : '+')}
      <Groups of={grouped(isDebt ? credits.slice(1) : credits)} />
    </data>
  )
}
