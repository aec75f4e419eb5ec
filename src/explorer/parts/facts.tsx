import type { ComponentChildren } from 'preact'

/** A list of names and values. */
export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>
}

/** A name and its value; not rendered without a value. */
export function Fact({
  name,
  children,
}: {
  readonly name: string
  readonly children: ComponentChildren
}) {
  if (children === null || children === undefined || children === false) return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A section of a page with a heading. */
export function Section({
  title,
  aside,
  children,
}: {
  readonly title: string
  /** Content next to the heading, at the end of the line. */
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <section aria-label={title}>
      <div class="section-head">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}
