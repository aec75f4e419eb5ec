/** A value over time as a line of steps; the table beside it has the same numbers. */

export interface Step {
  readonly timeMs: number
  /** The value from then on. */
  readonly value: number
}

const width = 1000
const height = 100

/** Draws steps in the order of time, at least two. */
export function StepLine({ steps }: { readonly steps: readonly Step[] }) {
  const [first] = steps
  const last = steps.at(-1)
  if (first === undefined || last === undefined || steps.length < 2) return null
  const most = Math.max(...steps.map(({ value }) => value), 1)
  const spanMs = Math.max(last.timeMs - first.timeMs, 1)
  const x = (timeMs: number) => ((timeMs - first.timeMs) / spanMs) * width
  const y = (value: number) => height - (value / most) * (height - 4)
  const line = steps.map(({ timeMs, value }) => `H${x(timeMs).toFixed(1)}V${y(value).toFixed(1)}`)
  const path = `M0 ${y(first.value).toFixed(1)}${line.join('')}H${width}`
  return (
    <svg
      class="step-line"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class="step-line-area" d={`${path}V${height}H0z`} />
      <path class="step-line-line" d={path} vector-effect="non-scaling-stroke" />
    </svg>
  )
}
