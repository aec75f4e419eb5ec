import { nextTurn } from '../../../lib/turns.ts'
import { transactionOf } from '../../../protocol/ids.ts'
import type { TransactionId } from '../../../protocol/primitives.ts'
import { type ProveOutput, proverOf } from '../../../service/outputs/output-proof.ts'
import type { OutputView } from '../../../service/outputs/read-output.ts'
import type { GatewayContext } from '../builder.ts'

/**
 * Computes the proofs of one response in pieces of at most 32 outputs of one transaction. Their common data is read and hashed once.
 * Other requests are served between pieces, and no proof is computed for a client that has disconnected.
 */

/** Number of proofs that are computed in one turn of the event loop: some milliseconds of work. */
const proofsPerChunk = 32

interface Piece {
  readonly prover: Promise<ProveOutput>
  /** Number of outputs. */
  size: number
  /** Number of outputs that are not proven yet. */
  open: number
}

interface Batch {
  /** The last piece of each transaction. Completed pieces are removed, because a thousand transactions use much memory. */
  readonly pieces: Map<TransactionId, Piece>
  /** Settles when the prover of the last piece is created or has failed. */
  last: Promise<unknown>
  /** Number of proofs that are not computed yet. */
  open: number
}

const openBatches = new WeakMap<GatewayContext, Batch>()

/** Computes the proof of an output. Returns an error if there is none. */
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
    // The next event of a subscription uses another batch.
    if (--batch.open === 0) openBatches.delete(context)
  }
}

function pieceFor(batch: Batch, context: GatewayContext, view: OutputView): Piece {
  const transactionId = transactionOf(view.outputId)
  const former = batch.pieces.get(transactionId)
  if (former !== undefined && former.size < proofsPerChunk) {
    former.size++
    return former
  }
  const prover = batch.last.then(async () => {
    await nextTurn(context.share.client)
    context.budget.check()
    return await (former?.prover ?? proverOf(context.services, view))
  })
  // The caller receives the failure; the next piece starts in any case.
  batch.last = prover.catch(() => undefined)
  const piece = { prover, size: 1, open: 0 }
  batch.pieces.set(transactionId, piece)
  return piece
}
