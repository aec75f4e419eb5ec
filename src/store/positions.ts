import { present } from '../lib/assert.ts'
import type { Position } from './list-contract.ts'

/** Positions of one list in their order. */

/** Below 0 where the first comes first. Lower-case hex compares like its bytes, also where one is the beginning of the other. */
export function comparePositions(a: Position, b: Position): number {
  for (const [i, one] of a.entries()) {
    const other = present(b[i], 'value')
    if (one < other) return -1
    if (one > other) return 1
  }
  return 0
}
