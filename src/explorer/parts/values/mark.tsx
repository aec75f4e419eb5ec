const signs = { done: '✓', pending: '◔', failed: '✕', created: '+', spent: '−' } as const

interface MarkProps {
  readonly as: keyof typeof signs
  readonly sign?: string
  readonly children: string
}

/** A word in the color of its meaning, after a sign that screen readers do not read. */
export function Mark({ as: meaning, sign = signs[meaning], children }: MarkProps) {
  return (
    <span class={`state state-${meaning}`}>
      <span aria-hidden="true">{sign}</span> {children}
    </span>
  )
}
