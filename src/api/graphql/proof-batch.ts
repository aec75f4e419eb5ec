import { setImmediate } from 'node:timers/promises'
import { transactionOf } from '../../protocol/ids.ts'
import type { TransactionId } from '../../protocol/primitives.ts'
import { type ProveOutput, proverOf } from '../../service/outputs/output-proof.ts'
import type { OutputView } from '../../service/outputs/read-output.ts'
import type { GatewayContext } from './builder.ts'

/**
 * Proofs that one answer asks for, transaction by transaction: each is read and hashed once for all of its outputs, the
 * requests of others are served before the next one, and nothing is proven for a client that has left.
 */

interface Batch {
  readonly provers: Map<TransactionId, Promise<ProveOutput>>
  /** The prover that was asked for last, made or failed. */
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
  const batch = openBatches.get(context) ?? { provers: new Map(), last: Promise.resolve(), open: 0 }
  openBatches.set(context, batch)
  batch.open++
  try {
    const prove = await proverIn(batch, context, view)
    return await prove(view)
  } finally {
    batch.open--
    // The next event of a subscription is another batch.
    if (batch.open === 0) openBatches.delete(context)
  }
}

function proverIn(batch: Batch, context: GatewayContext, view: OutputView): Promise<ProveOutput> {
  const transactionId = transactionOf(view.outputId)
  const known = batch.provers.get(transactionId)
  if (known !== undefined) return known
  const prover = batch.last.then(() => inNextTurn(context, view))
  batch.provers.set(transactionId, prover)
  // The caller gets the failure; the next prover is of another transaction.
  batch.last = prover.catch(() => undefined)
  return prover
}

async function inNextTurn(
  { services, budget }: GatewayContext,
  view: OutputView,
): Promise<ProveOutput> {
  await setImmediate()
  budget.check()
  return await proverOf(services, view)
}
