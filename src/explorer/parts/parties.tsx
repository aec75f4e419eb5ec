import { Id } from './id.tsx'

/** Who gave and who was given, in one line. */

/** What a transaction moved by an address. */
export interface Change {
  readonly address: { readonly bech32: string }
  readonly sent: string
  readonly received: string
}

export function Parties({ of: changes }: { readonly of: readonly Change[] }) {
  const from = changes.filter((change) => gain(change) < 0n)
  const to = changes.filter((change) => gain(change) > 0n)
  // One that gave itself all is both.
  const [giver = changes[0]] = from
  const [taker = giver] = to
  if (giver === undefined || taker === undefined) return <span class="muted">–</span>
  return (
    <span class="parties">
      <Id of="address" id={giver.address.bech32} />
      <More count={from.length - 1} /> <span class="muted">→</span>{' '}
      <Id of="address" id={taker.address.bech32} />
      <More count={to.length - 1} />
    </span>
  )
}

function More({ count }: { readonly count: number }) {
  return count > 0 ? <span class="muted"> +{count}</span> : null
}

/** What went from some addresses to others, without what they gave themselves. */
export function movedBy(changes: readonly Change[]): string {
  return String(changes.map(gain).reduce((sum, one) => (one > 0n ? sum + one : sum), 0n))
}

/** What an address has more by a transaction; less, where it is negative. */
export function gain({ sent, received }: Change): bigint {
  return BigInt(received) - BigInt(sent)
}
