/** Parts of a whole as one bar. The same numbers stand in the table beneath it. */
export function Shares({ of: shares }: { readonly of: readonly number[] }) {
  return (
    <div class="shares" aria-hidden="true">
      {shares.map((share, n) => (
        <span key={n} style={{ flexGrow: String(share) }} />
      ))}
    </div>
  )
}

/** A part of one as a percentage: two digits after the point, and what is less than them as such. */
export function percent(share: number): string {
  if (share > 0 && share < 0.0001) return '< 0.01 %'
  return `${(100 * share).toFixed(2)} %`
}

/** A part of one, for a cell of a table. */
export function Percent({ of: share }: { readonly of: number }) {
  return <data value={share}>{percent(share)}</data>
}
