import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import {
  blockCount,
  blockOf,
  blocksIn,
  nextBlocks,
  type Part,
  partsOf,
  rowsPerBlock,
  withRow,
} from './row-blocks.ts'
import { isSame } from './same.ts'

/** The rows of a long table: those near the window are drawn, and gaps keep the places of the others. */

/** The head of a table is its first row. */
export function ariaRowIndex(n: number): number {
  return n + 2
}

/** How far beyond the window rows are drawn, in pixels. */
const sparePx = 400

/** The least height of a row, before one was measured. */
const leastRowPx = 40

/** What is drawn in the body of a table; a row that is drawn has the `aria-rowindex` that `ariaRowIndex` gives its number. */
export function useDrawnParts(
  body: RefObject<HTMLTableSectionElement | null>,
  rowCount: number,
): readonly Part[] {
  const [heights] = useState(createHeights)
  const [drawn, setDrawn] = useState<readonly number[]>([0, 1, 2])
  const [isPrinted, setPrinted] = useState(false)

  const look = () => {
    const { current } = body
    if (current === null) return
    const { top } = current.getBoundingClientRect()
    const wanted = blocksIn({
      ...{ rowCount, heightOf: heights.of, focusedRow: focusedRowIn(current) },
      ...{ from: -top - sparePx, to: innerHeight - top + sparePx },
    })
    setDrawn((former) => {
      const next = nextBlocks(former, wanted)
      return isSame(former, next) ? former : next
    })
  }
  useLayoutEffect(() => {
    // Gaps have the height that is expected of their rows: the first rows that are measured change it.
    if (heights.measure(body)) setDrawn((former) => [...former])
    // A few more are drawn in each task, until all that the window shows are there.
    const next = setTimeout(look)
    return () => clearTimeout(next)
  })
  useEffect(() => {
    const lookAnew = () => {
      heights.forget()
      setDrawn((former) => [...former])
    }
    return listen({
      scroll: look,
      resize: lookAnew,
      beforeprint: () => setPrinted(true),
      afterprint: () => setPrinted(false),
    })
  }, [rowCount])

  // Both the focus and the rows may have moved since `drawn` was chosen.
  const focused = body.current === null ? undefined : focusedRowIn(body.current)
  const grown = useGrowth(rowCount)
  const moved = focused === undefined ? undefined : focused + grown
  useKeptFocus(body)
  const all = () => Array.from({ length: blockCount(rowCount) }, (_, n) => n)
  const shown = isPrinted ? all() : withRow(withRow(drawn, focused), moved)
  return partsOf(shown, { rowCount, heightOf: heights.of })
}

/** The heights of blocks: as they were when they were last drawn, and before that as the first ones were. */
function createHeights() {
  const known = new Map<number, number>()
  let expectedPx: number | undefined

  return {
    of: (block: number) => known.get(block) ?? rowsPerBlock * (expectedPx ?? leastRowPx),
    /** Whether what is expected of the others changed. */
    measure: ({ current }: RefObject<HTMLTableSectionElement | null>): boolean => {
      const ends = new Map<number, { top: number; bottom: number; rows: number }>()
      for (const row of current?.rows ?? []) {
        const n = rowNumber(row)
        if (n === undefined) continue
        const { top, bottom } = row.getBoundingClientRect()
        const end = ends.get(blockOf(n))
        ends.set(blockOf(n), { top: end?.top ?? top, bottom, rows: (end?.rows ?? 0) + 1 })
      }
      for (const [block, { top, bottom, rows }] of ends) {
        // The last block has fewer, and a table that is not shown has no height.
        if (rows === rowsPerBlock && bottom > top) known.set(block, bottom - top)
      }
      if (expectedPx !== undefined || known.size === 0) return false
      expectedPx = [...known.values()].reduce((sum, px) => sum + px, 0) / known.size / rowsPerBlock
      return true
    },
    forget: () => {
      known.clear()
      expectedPx = undefined
    },
  }
}

/** By how many rows the list has grown since it was last drawn: new ones at the top move all others, maybe into another block. */
function useGrowth(rowCount: number): number {
  const former = useRef(rowCount)
  const grown = Math.max(0, rowCount - former.current)
  useLayoutEffect(() => {
    former.current = rowCount
  })
  return grown
}

/** Gives the focus back to an element that was moved within the body, which takes it away. */
function useKeptFocus({ current }: RefObject<HTMLTableSectionElement | null>): void {
  const { activeElement } = document
  useLayoutEffect(() => {
    const isLost = activeElement !== document.activeElement && current?.contains(activeElement)
    if (isLost && activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true })
  })
}

function focusedRowIn(body: HTMLElement): number | undefined {
  const row = body.contains(document.activeElement) ? document.activeElement?.closest('tr') : null
  return row == null ? undefined : rowNumber(row)
}

function rowNumber(row: Element): number | undefined {
  const index = row.getAttribute('aria-rowindex')
  return index === null ? undefined : Number(index) - ariaRowIndex(0)
}

/** Listens to events of the window; what is returned ends it. */
function listen(listeners: Readonly<Record<string, () => void>>): () => void {
  for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener)
  return () => {
    for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener)
  }
}
