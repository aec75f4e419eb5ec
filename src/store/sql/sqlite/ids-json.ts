import type { Hex } from '../../../lib/hex.ts'
import { digits } from '../../values.ts'

/** Ids as the one JSON parameter of a statement on SQLite. */
export function idsJson(ids: readonly Hex[]): string {
  return JSON.stringify(ids.map(digits))
}
