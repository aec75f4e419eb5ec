import type { ComponentChildren } from 'preact'
import { ribbonsOf } from './ribbons.ts'

/** A flow between two sides with one row per end, and ribbons whose width is proportional to the amounts. */

/** Height of a row in pixels, to which the ribbons are aligned. */
const rowPx = 64
const headPx = 28

interface Side {
  readonly title: ComponentChildren
  readonly amounts: readonly number[]
  readonly children: ComponentChildren
}

interface FlowLaneProps {
  readonly title: string
  readonly left: Side
  readonly right: Side
}

export function FlowLane({ title, left, right }: FlowLaneProps) {
  const rows = Math.max(left.amounts.length, right.amounts.length, 1)
  const height = rows * rowPx
  const { paths } = ribbonsOf({ left: left.amounts, right: right.amounts, rowPx, height })
  return (
    <section class="flow" aria-label={title}>
      <FlowList {...left} />
      <svg
        class="ribbons"
        viewBox={`0 0 100 ${height + headPx}`}
        style={{ height: `${height + headPx}px` }}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <g transform={`translate(0 ${headPx})`}>
          {paths.map((path, n) => (
            <path key={n} d={path} />
          ))}
        </g>
      </svg>
      <FlowList {...right} />
    </section>
  )
}

function FlowList({ title, children }: Side) {
  return (
    <div>
      <h2>{title}</h2>
      <ul>{children}</ul>
    </div>
  )
}
