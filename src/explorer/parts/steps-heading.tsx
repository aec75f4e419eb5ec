interface Step {
  readonly label: string
  /** URL of the neighbour; `null` if there is none. */
  readonly to: string | null
}

interface StepsHeadingProps {
  readonly title: string
  /** Label of the links for screen readers. */
  readonly label: string
  readonly before: Step
  readonly after: Step
}

/** The heading of one of a sequence, with links to the previous and the next one. */
export function StepsHeading({ title, label, before, after }: StepsHeadingProps) {
  return (
    <div class="heading">
      <h1>{title}</h1>
      <nav class="steps" aria-label={label}>
        {stepLink(before)}
        {stepLink(after)}
      </nav>
    </div>
  )
}

function stepLink({ label, to }: Step) {
  return to === null ? <span class="muted">{label}</span> : <a href={to}>{label}</a>
}
