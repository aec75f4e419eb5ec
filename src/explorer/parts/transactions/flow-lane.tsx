import type { ComponentChildren } from 'preact'
import { ribbonsOf } from './ribbons.ts'

/** A flow between two sides with one row per end, and ribbons whose width is proportional to the amounts. */

/** Height of a row in pixels, to which the ribbons are aligned. Both heights grow with the text, which has 15 pixels by default. */
const rowPx = 64
const headPx = 28
const textPx = 15

interface Side {
  readonly title: ComponentChildren
  readonly amounts: readonly number[]
  readonly children: ComponentChildren
}

interface FlowLaneProps {
  readonly title: string
  /** The element of the headings of both sides. */
  readonly heading: 'h2' | 'h3'
  readonly left: Side
  readonly right: Side
}

export function FlowLane({ title, heading, left, right }: FlowLaneProps) {
  const rows = Math.max(left.amounts.length, right.amounts.length, 1)
  const height = rows * rowPx
  const paths = ribbonsOf({ left: left.amounts, right: right.amounts, rowPx, height })
  return (
    <section class="flow" aria-label={title}>
      <FlowList {...left} heading={heading} />
      <svg
        class="ribbons"
        viewBox={`0 0 100 ${height + headPx}`}
        style={{ height: `${(height + headPx) / textPx}rem` }}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <g transform={`translate(0 ${headPx})`}>
          {paths.map((path, n) => (
            <path key={n} d={path} />
          ))}
        </g>
      </svg>
      <FlowList {...right} heading={heading} />
    </section>
  )
}

function FlowList({ title, heading: Heading, children }: Side & Pick<FlowLaneProps, 'heading'>) {
  return (
    <div>
      <Heading>{title}</Heading>
      <ul>{children}</ul>
    </div>
  )
}
