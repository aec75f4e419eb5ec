import { nextTurn } from '../../lib/turns.ts'
import { transactionOf } from '../../protocol/ids.ts'
import type { TransactionId } from '../../protocol/primitives.ts'
import { type ProveOutput, proverOf } from '../../service/outputs/output-proof.ts'
import type { OutputView } from '../../service/outputs/read-output.ts'
import type { GatewayContext } from './builder.ts'

/**
 * Proofs that one answer asks for, in pieces: the outputs of one transaction, at most 32 of them. What they have in common is
 * read and hashed once for all of them, the requests of others are served before the next piece, and nothing is proven for a
 * client that has left.
 */

/** Proofs made in one turn of the event loop: some milliseconds of work. */
export const proofsPerPiece = 32

interface Piece {
  readonly prover: Promise<ProveOutput>
  /** How many outputs it has. */
  size: number
  /** How many of them are not proven yet. */
  open: number
}

interface Batch {
  /** The last piece of each transaction; none once it is done, for what a thousand transactions have in memory adds up. */
  readonly pieces: Map<TransactionId, Piece>
  /** The prover of the last piece, made or failed. */
  last: Promise<unknown>
  /** Proofs that are not there yet. */
  open: number
}

const openBatches = new WeakMap<GatewayContext, Batch>()

/** The proof of an output, or why there is none. */
export async function proofInBatch(
  context: GatewayContext,
  view: OutputView,
): ReturnType<ProveOutput> {
  const batch = openBatches.get(context) ?? { pieces: new Map(), last: Promise.resolve(), open: 0 }
  openBatches.set(context, batch)
  const transactionId = transactionOf(view.outputId)
  const piece = pieceFor(batch, context, view)
  batch.open++
  piece.open++
  try {
    const prove = await piece.prover
    return await prove(view)
  } finally {
    if (--piece.open === 0 && batch.pieces.get(transactionId) === piece) {
      batch.pieces.delete(transactionId)
    }
    // The next event of a subscription is another batch.
    if (--batch.open === 0) openBatches.delete(context)
  }
}

function pieceFor(batch: Batch, context: GatewayContext, view: OutputView): Piece {
  const transactionId = transactionOf(view.outputId)
  const former = batch.pieces.get(transactionId)
  if (former !== undefined && former.size < proofsPerPiece) {
    former.size++
    return former
  }
  const prover = batch.last.then(async () => {
    await nextTurn(context.share.client)
    context.budget.check()
    return await (former?.prover ?? proverOf(context.services, view))
  })
  // The caller gets the failure; the next piece begins all the same.
  batch.last = prover.catch(() => undefined)
  const piece = { prover, size: 1, open: 0 }
  batch.pieces.set(transactionId, piece)
  return piece
}
