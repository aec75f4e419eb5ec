/** Computes the ribbons of a flow: each row leads to its part of a bar in the middle, which is equally high on both sides. */

interface RibbonsInput {
  readonly left: readonly number[]
  readonly right: readonly number[]
  /** Height of a row; the rows of each side start at the top. */
  readonly rowPx: number
  readonly height: number
}

/** SVG paths in a coordinate system 100 wide. */
export function ribbonsOf({ left, right, rowPx, height }: RibbonsInput): string[] {
  const barPx = Math.min(height - 8, Math.max(rowPx - 16, height / 2))
  const top =
    (Math.min(height, rowPx * Math.max(1, Math.min(left.length, right.length))) - barPx) / 2
  const begin = Math.max(4, top)
  return [
    ...sideOf(left, { x: 0, rowPx, barPx, begin }),
    ...sideOf(right, { x: 100, rowPx, barPx, begin }),
  ]
}

function sideOf(
  amounts: readonly number[],
  {
    x,
    rowPx,
    barPx,
    begin,
  }: {
    readonly x: 0 | 100
    readonly rowPx: number
    readonly barPx: number
    readonly begin: number
  },
): string[] {
  const shares = sharesOf(amounts)
  const middle = x === 0 ? 49 : 51
  const bend = (x + middle) / 2
  let at = begin
  return shares.map((share, n) => {
    const inBar = share * barPx
    const atRow = Math.min(inBar, rowPx - 24)
    const y = n * rowPx + (rowPx - atRow) / 2
    const [from, to] = [at, at + inBar]
    at = to
    return `M${x} ${y}C${bend} ${y} ${bend} ${from} ${middle} ${from}V${to}C${bend} ${to} ${bend} ${y + atRow} ${x} ${y + atRow}z`
  })
}

/** Shares of the sum: proportional, but logarithmic below a tenth, so that the smallest share is still visible. */
function sharesOf(amounts: readonly number[]): number[] {
  const sum = amounts.reduce((all, one) => all + one, 0)
  const raised = amounts.map((one) => {
    const share = sum === 0 ? 1 / amounts.length : one / sum
    return share >= 0.1 ? share : 0.1 / (1 - Math.log10(Math.max(share, 1e-12) / 0.1))
  })
  const all = raised.reduce((total, one) => total + one, 0)
  return raised.map((one) => one / all)
}
