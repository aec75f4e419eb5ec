/** Shares as one divided bar. The table below it contains the same numbers. */
export function Shares({ of: shares }: { readonly of: readonly number[] }) {
  return (
    <div class="shares" aria-hidden="true">
      {shares.map((share, n) => (
        <span key={n} style={{ flexGrow: String(share) }} />
      ))}
    </div>
  )
}

/** Formats a fraction as a percentage with two decimals: `< 0.01 %` is more than nothing, `> 99.99 %` less than the whole. */
export function percent(share: number): string {
  if (share > 0 && share < 0.0001) return '< 0.01 %'
  if (share > 0.9999 && share < 1) return '> 99.99 %'
  return `${(100 * share).toFixed(2)} %`
}

/** A fraction as a percentage, for a table cell. */
export function Percent({ of: share }: { readonly of: number }) {
  return <data value={share}>{percent(share)}</data>
}
