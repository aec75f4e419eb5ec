import type { BlockBody } from '../protocol/block.ts'
import type { BlockKind } from '../store/rows.ts'

/** What a block is to those who commit slots. */
export function blockKind(body: BlockBody): BlockKind {
  if (body.type === 1) return 'validation'
  return body.payload?.type === 2 ? 'candidacy' : 'basic'
}
