/** Computes the step line of a balance over time, and bars of its changes where the steps are too small to see. */

/** A balance that is valid from a time on. */
export interface BalanceStep {
  readonly timeMs: number
  readonly balance: bigint
}

/** The balance at a time, and the time of the last change before it; null before the first change. */
export interface BalancePoint {
  readonly milestoneEndedAt: string
  readonly total: string
  readonly changedAt: string | null
}

/** Converts points, in the order of time, to their changes and the last point. Between two points only the last change is known. */
export function stepsOf(points: readonly BalancePoint[]): readonly BalanceStep[] {
  const [first] = points
  const last = points.at(-1)
  if (first === undefined || last === undefined) return []
  const begin = Date.parse(first.milestoneEndedAt)
  const changes = points.map(({ total, changedAt }) => {
    const timeMs = changedAt === null ? begin : Math.max(begin, Date.parse(changedAt))
    return { timeMs, balance: BigInt(total) }
  })
  return [...changes, { timeMs: Date.parse(last.milestoneEndedAt), balance: BigInt(last.total) }]
}

/** SVG paths in a coordinate system 1000 wide and 100 high. */
export interface BalancePicture {
  /** One step per time, oldest first. */
  readonly steps: readonly BalanceStep[]
  /** Horizontal position of each step. */
  readonly places: readonly number[]
  readonly line: string
  readonly max: bigint
  /** The changes on a second axis; `undefined` if the largest change is at least a tenth of the balance, so that the steps show it. */
  readonly changes:
    | { readonly max: bigint; readonly gained: string; readonly lost: string }
    | undefined
}

export const pictureWidth = 1000
export const pictureHeight = 100

/** Draws balances in the order of time; returns `undefined` if there are fewer than two times. */
export function pictureOf(balances: readonly BalanceStep[]): BalancePicture | undefined {
  // Of several balances at the same time, the last one counts.
  const steps = balances.filter(({ timeMs }, n) => timeMs !== balances[n + 1]?.timeMs)
  const [first] = steps
  const last = steps.at(-1)
  if (first === undefined || last === undefined || steps.length < 2) return undefined
  const spanMs = last.timeMs - first.timeMs
  const places = steps.map(({ timeMs }) =>
    rounded(((timeMs - first.timeMs) / spanMs) * pictureWidth),
  )
  const max = largestOf([1n, ...steps.map(({ balance }) => balance)])
  const height = (value: bigint, of: bigint) =>
    rounded(pictureHeight - (Number(value) / Number(of)) * (pictureHeight - 4))
  const line = steps.map(({ balance }, n) => `H${places[n]}V${height(balance, max)}`)
  const differences = steps.map(({ balance }, n) => balance - (steps[n - 1]?.balance ?? balance))
  const largest = largestOf(differences.map(absolute))
  const bars = (sign: 1 | -1) =>
    differences
      .map((one, n) =>
        Math.sign(Number(one)) === sign
          ? `M${places[n]} ${pictureHeight}V${height(absolute(one), largest)}`
          : '',
      )
      .join('')
  const isVisible = largest === 0n || largest * 10n >= max
  return {
    ...{ steps, places, max },
    line: `M0 ${height(first.balance, max)}${line.join('')}H${pictureWidth}`,
    changes: isVisible ? undefined : { max: largest, gained: bars(1), lost: bars(-1) },
  }
}

function largestOf(values: readonly bigint[]): bigint {
  return values.toSorted((a, b) => (a < b ? -1 : 1)).at(-1) ?? 0n
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
