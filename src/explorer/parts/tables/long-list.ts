import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isSame } from '../same.ts'
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

/** Virtual scrolling of a long table: only rows near the window are rendered, and gaps replace the others. */

/** The `aria-rowindex` of a body row; the head of a table is its first row. */
export function ariaRowIndex(n: number): number {
  return n + 2
}

/** Distance beyond the window in which rows are rendered, in pixels. */
const marginPx = 400

/** Assumed height of a row before a row was measured, in pixels. */
const defaultRowPx = 40

/** The rendered parts of a table body. The caller must give each row the `aria-rowindex` that `ariaRowIndex` returns. */
export function useDrawnParts(
  body: RefObject<HTMLTableSectionElement | null>,
  rowCount: number,
): readonly Part[] {
  const [heights] = useState(createHeights)
  const [drawn, setDrawn] = useState<readonly number[]>([0, 1, 2])
  const [isPrinted, setPrinted] = useState(false)

  const update = () => {
    const { current } = body
    if (current === null) return
    const { top } = current.getBoundingClientRect()
    const wanted = blocksIn({
      ...{ rowCount, heightOf: heights.of, focusedRow: focusedRowIn(current) },
      ...{ from: -top - marginPx, to: innerHeight - top + marginPx },
    })
    setDrawn((former) => {
      const next = nextBlocks(former, wanted)
      return isSame(former, next) ? former : next
    })
  }
  useLayoutEffect(() => {
    // The gaps have the expected height of their rows, which changes when the first rows are measured.
    if (heights.measure(body)) setDrawn((former) => [...former])
    // Each task renders a few more blocks, until the window is filled.
    const next = setTimeout(update)
    return () => clearTimeout(next)
  })
  useEffect(() => {
    const remeasure = () => {
      heights.forget()
      setDrawn((former) => [...former])
    }
    return listen({
      scroll: update,
      resize: remeasure,
      beforeprint: () => setPrinted(true),
      afterprint: () => setPrinted(false),
    })
  }, [rowCount])

  // The focus and the rows may have moved since `drawn` was computed.
  const focused = body.current === null ? undefined : focusedRowIn(body.current)
  const grown = useGrowth(rowCount)
  const moved = focused === undefined ? undefined : focused + grown
  useKeptFocus(body)
  const all = () => Array.from({ length: blockCount(rowCount) }, (_, n) => n)
  const shown = isPrinted ? all() : withRow(withRow(drawn, focused), moved)
  return partsOf(shown, { rowCount, heightOf: heights.of })
}

/** The heights of blocks: the last measured height, or the height expected from the first measured rows. */
function createHeights() {
  const known = new Map<number, number>()
  let expectedPx: number | undefined

  return {
    of: (block: number) => known.get(block) ?? rowsPerBlock * (expectedPx ?? defaultRowPx),
    /** Measures the rendered blocks; returns whether the expected height of the other blocks changed. */
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
        // The last block has fewer rows, and a hidden table has no height.
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

/** Number of rows that were added since the last rendering. New rows at the top move all others, possibly into another block. */
function useGrowth(rowCount: number): number {
  const former = useRef(rowCount)
  const grown = Math.max(0, rowCount - former.current)
  useLayoutEffect(() => {
    former.current = rowCount
  })
  return grown
}

/** Restores the focus of an element that was moved within the body, because moving it removes the focus. */
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

/** Listens to events of the window; returns a function that removes the listeners. */
function listen(listeners: Readonly<Record<string, () => void>>): () => void {
  for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener)
  return () => {
    for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener)
  }
}
