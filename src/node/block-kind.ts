import { type BlockBody, ValidationBlockBody } from '../protocol/block.ts'
import { is } from '../protocol/is.ts'
import { CandidacyAnnouncement, SignedTransaction, TaggedData } from '../protocol/transaction.ts'
import type { BlockKind } from '../store/rows.ts'

/** The kind of a block. Block lists and the commitment of a slot distinguish blocks by kind. */
export function blockKind(body: BlockBody): BlockKind {
  if (is(ValidationBlockBody, body)) return 'validation'
  const { payload } = body
  if (is(CandidacyAnnouncement, payload)) return 'candidacy'
  if (is(TaggedData, payload)) return 'tagged'
  return is(SignedTransaction, payload) ? 'transaction' : 'basic'
}
