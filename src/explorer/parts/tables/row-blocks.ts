/** Computes which rows of a long list are rendered, in blocks: the rows near the window, and the rows around the focused row. */

export const rowsPerBlock = 10

interface View {
  readonly rowCount: number
  readonly heightOf: (block: number) => number
  /** Visible range in pixels, from the top of the first row. */
  readonly from: number
  readonly to: number
  /** Row with the focus. It and its neighbours stay rendered when they are scrolled away. */
  readonly focusedRow: number | undefined
}

/** The blocks to render, in order. */
export function blocksIn({ rowCount, heightOf, from, to, focusedRow }: View): readonly number[] {
  const blocks: number[] = []
  const focused = focusedRow === undefined ? undefined : blockOf(focusedRow)
  let top = 0
  for (let block = 0; block < blockCount(rowCount); block++) {
    const bottom = top + heightOf(block)
    const isFocused = focused !== undefined && Math.abs(block - focused) <= 1
    if (isFocused || (bottom > from && top < to)) blocks.push(block)
    top = bottom
  }
  return blocks
}

/**
 * The blocks to render next: a few more than now, those in the middle first, so that a jump to another position of the list does
 * not become a long task.
 */
export function nextBlocks(drawn: readonly number[], wanted: readonly number[]): readonly number[] {
  const missing = wanted.filter((block) => !drawn.includes(block))
  const middle = wanted[Math.floor(wanted.length / 2)] ?? 0
  const added = missing
    .toSorted((one, other) => Math.abs(one - middle) - Math.abs(other - middle))
    .slice(0, maxAdded)
  return wanted.filter((block) => drawn.includes(block) || added.includes(block))
}

const maxAdded = 2

/** Adds the block of a row to the blocks to render. */
export function withRow(drawn: readonly number[], row: number | undefined): readonly number[] {
  const block = row === undefined ? undefined : blockOf(row)
  if (block === undefined || drawn.includes(block)) return drawn
  return [...drawn, block].toSorted((one, other) => one - other)
}

/** A part of a list: rendered rows, or a gap that replaces other rows. */
export type Part =
  | { readonly is: 'ROWS'; readonly from: number; readonly to: number }
  | { readonly is: 'GAP'; readonly from: number; readonly height: number }

/** The rendered blocks and the gaps between them. */
export function partsOf(
  drawn: readonly number[],
  { rowCount, heightOf }: Pick<View, 'rowCount' | 'heightOf'>,
): readonly Part[] {
  const parts: Part[] = []
  let next = 0
  const skipTo = (block: number) => {
    let height = 0
    for (let skipped = next; skipped < block; skipped++) height += heightOf(skipped)
    if (block > next) parts.push({ is: 'GAP', from: next * rowsPerBlock, height })
  }
  const end = blockCount(rowCount)
  for (const block of drawn) {
    if (block >= end) break
    skipTo(block)
    const from = block * rowsPerBlock
    parts.push({ is: 'ROWS', from, to: Math.min(from + rowsPerBlock, rowCount) })
    next = block + 1
  }
  skipTo(end)
  return parts
}

export function blockCount(rowCount: number): number {
  return Math.ceil(rowCount / rowsPerBlock)
}

export function blockOf(row: number): number {
  return Math.floor(row / rowsPerBlock)
}
