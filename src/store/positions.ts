import { present } from '../lib/assert.ts'
import type { Position } from './contract/list.ts'

/** The order of positions in a list. */

/** Returns a negative number if `a` comes before `b`. Lower-case hex compares like its bytes, even if one is a prefix of the other. */
export function comparePositions(a: Position, b: Position): number {
  for (const [i, one] of a.entries()) {
    const other = present(b[i], 'value')
    if (one < other) return -1
    if (one > other) return 1
  }
  return 0
}
