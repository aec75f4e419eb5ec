import { type BlockBody, ValidationBlockBody } from '../protocol/block.ts'
import { is } from '../protocol/is.ts'
import { CandidacyAnnouncement } from '../protocol/transaction.ts'
import type { BlockKind } from '../store/rows.ts'

/** The kind of a block, as the commitment of its slot distinguishes them. */
export function blockKind(body: BlockBody): BlockKind {
  if (is(ValidationBlockBody, body)) return 'validation'
  return is(CandidacyAnnouncement, body.payload) ? 'candidacy' : 'basic'
}
