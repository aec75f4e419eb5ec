import { err, ok, type Result } from '../../lib/result.ts'
import type { CommittedRoots, UnspentProof } from '../../node/unspent-proofs.ts'
import type { NotOffered } from '../network/not-offered.ts'
import type { Services } from '../services.ts'
import type { OutputView } from './read-output.ts'

/** Proofs that an output is unspent as of the newest commitment. */

export type { UnspentProof } from '../../node/unspent-proofs.ts'

/** The roots of the newest commitment are not known: they are being computed, or it is the genesis commitment. */
export interface CommitmentRootsNotReady {
  readonly code: 'COMMITMENT_ROOTS_NOT_READY'
}

/** Proves that an output is unspent; `undefined` if the output is spent, or booked in a slot that is not committed. */
export type ProveUnspent = (
  view: Pick<OutputView, 'outputId'>,
) => Promise<Result<UnspentProof | undefined, CommitmentRootsNotReady>>

/** Creates a prover from the newest commitment and its roots, which all its proofs share. */
export async function unspentProverOf({
  store,
  source,
}: Pick<Services, 'store' | 'source'>): Promise<
  Result<ProveUnspent, NotOffered | CommitmentRootsNotReady>
> {
  const { unspentProofs: proofs } = source
  if (proofs === undefined) {
    return err({ code: 'NOT_OFFERED_BY_NODES', what: 'the roots behind a commitment' })
  }
  const roots: CommittedRoots | undefined = await proofs.roots(store.read)
  if (roots === undefined) return err(notReady)
  return ok(async ({ outputId }) => {
    const proof = await proofs.prove(store.read, roots, outputId)
    return proof === 'NOT_READY' ? err(notReady) : ok(proof)
  })
}

const notReady = { code: 'COMMITMENT_ROOTS_NOT_READY' } as const
