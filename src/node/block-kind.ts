import type { BlockBody } from '../protocol/block.ts'
import type { BlockKind } from '../store/rows.ts'

/** The kind of a block, as the commitment of its slot distinguishes them. */
export function blockKind(body: BlockBody): BlockKind {
  if (body.type === 1) return 'validation'
  return body.payload?.type === 2 ? 'candidacy' : 'basic'
}
