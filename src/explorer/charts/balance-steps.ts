/** A balance over time as steps, and its changes beside it where the steps do not show them. */

/** A balance from a moment on. */
export interface BalanceStep {
  readonly timeMs: number
  readonly balance: bigint
}

/** What was owned at a moment, and the moment of the last change until then; null before the first. */
export interface BalancePoint {
  readonly milestoneEndedAt: string
  readonly total: string
  readonly changedAt: string | null
}

/** The changes behind points in the order of time, and the last point: between two points only the last change is seen. */
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

/** A picture 1000 wide and 100 high. */
export interface BalancePicture {
  /** One for each moment, the oldest first. */
  readonly steps: readonly BalanceStep[]
  /** Where each step begins. */
  readonly places: readonly number[]
  readonly line: string
  readonly most: bigint
  /** The changes on an axis of their own: none where the largest is a tenth of the balance, and so seen as a step. */
  readonly changes:
    | { readonly most: bigint; readonly gained: string; readonly lost: string }
    | undefined
}

export const pictureWidth = 1000
export const pictureHeight = 100

/** Draws balances in the order of time; `undefined` where there are less than two moments. */
export function pictureOf(balances: readonly BalanceStep[]): BalancePicture | undefined {
  // Of one moment the last balance counts.
  const steps = balances.filter(({ timeMs }, n) => timeMs !== balances[n + 1]?.timeMs)
  const [first] = steps
  const last = steps.at(-1)
  if (first === undefined || last === undefined || steps.length < 2) return undefined
  const spanMs = last.timeMs - first.timeMs
  const places = steps.map(({ timeMs }) =>
    rounded(((timeMs - first.timeMs) / spanMs) * pictureWidth),
  )
  const most = largestOf([1n, ...steps.map(({ balance }) => balance)])
  const height = (value: bigint, of: bigint) =>
    rounded(pictureHeight - (Number(value) / Number(of)) * (pictureHeight - 4))
  const line = steps.map(({ balance }, n) => `H${places[n]}V${height(balance, most)}`)
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
  const isSeen = largest === 0n || largest * 10n >= most
  return {
    ...{ steps, places, most },
    line: `M0 ${height(first.balance, most)}${line.join('')}H${pictureWidth}`,
    changes: isSeen ? undefined : { most: largest, gained: bars(1), lost: bars(-1) },
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
