import { Fragment } from 'preact'
import { grouped, inUnit, thinSpace } from '../../format.ts'
import { baseToken } from '../../network.ts'

/** An amount of base tokens in the unit of the token. The tooltip shows the exact number of the smallest unit. */
export function Amount({
  value,
  isBare = false,
}: {
  readonly value: string
  readonly isBare?: boolean
}) {
  const { tickerSymbol, subunit, decimals } = baseToken.value
  const { sign, whole, fraction } = inUnit(value, decimals)
  const significant = fraction.replace(/0+$/, '')
  return (
    <data class="amount" value={value} data-unit={subunit} title={`${grouped(value)} ${subunit}`}>
      {sign}
      <Groups of={whole} />
      {decimals > 0 && (
        <span class={significant === '' ? 'faint' : undefined}>
          .{significant}
          <span class="faint">{fraction.slice(significant.length)}</span>
        </span>
      )}
      {!isBare && <span class="unit"> {tickerSymbol}</span>}
    </data>
  )
}

/** Groups of digits. A number that is longer than the line continues with a whole group, if its style allows line breaks. */
export function Groups({ of: number }: { readonly of: string }) {
  return (
    <>
      {number.split(thinSpace).map((group, n) => (
        <Fragment key={n}>
          {n > 0 && thinSpace}
          {n > 0 && <wbr />}
          {group}
        </Fragment>
      ))}
    </>
  )
}

/** A number of native tokens, which GraphQL returns in hexadecimal digits. */
export function Tokens({ value }: { readonly value: string }) {
  return <Count value={String(BigInt(value))} />
}

/** A whole number in groups of three digits. */
export function Count({ value }: { readonly value: number | string | null }) {
  if (value === null) return <span class="count">–</span>
  return (
    <data class="count" value={value}>
      {grouped(value)}
    </data>
  )
}
