import { texts } from '../../texts.ts'
import type { Column } from '../tables/table.tsx'
import { Id } from '../values/id.tsx'

/** The senders and receivers of a transaction in one line. */

/** The amounts that an address sent and received in a transaction. */
export interface Change {
  readonly address: { readonly bech32: string }
  readonly sent: string
  readonly received: string
}

function Parties({ of: changes }: { readonly of: readonly Change[] }) {
  const from = changes.filter((change) => gain(change) < 0n)
  const to = changes.filter((change) => gain(change) > 0n)
  // An address that sent everything to itself is both sender and receiver.
  const [sender = changes[0]] = from
  const [receiver = sender] = to
  if (sender === undefined || receiver === undefined) return <span class="muted">–</span>
  return (
    <span class="parties">
      <Id of="address" id={sender.address.bech32} />
      <More count={from.length - 1} /> <span class="muted">→</span>{' '}
      <Id of="address" id={receiver.address.bech32} />
      <More count={to.length - 1} />
    </span>
  )
}

export const partiesColumn: Column<{ readonly changes: readonly Change[] | null }> = {
  head: texts.columns.parties,
  cell: ({ changes }) => <Parties of={changes ?? []} />,
}

function More({ count }: { readonly count: number }) {
  return count > 0 ? <span class="muted"> +{count}</span> : null
}

/** The amount that moved between different addresses. */
export function movedBy(changes: readonly Change[]): string {
  return String(changes.map(gain).reduce((sum, one) => (one > 0n ? sum + one : sum), 0n))
}

/** The amount that an address gained in a transaction; negative if it lost. */
export function gain({ sent, received }: Change): bigint {
  return BigInt(received) - BigInt(sent)
}
