import { err, ok, type Result } from '../../lib/result.ts'
import type { CommittedRoots, UnspentProof } from '../../node/unspent-proofs.ts'
import type { NotOffered } from '../network/not-offered.ts'
import type { Services } from '../services.ts'
import type { OutputView } from './read-output.ts'

/** The proof that the newest commitment has an output among the unspent ones. */

export type { UnspentProof } from '../../node/unspent-proofs.ts'

/** The roots behind the newest commitment are not known: it is that of the genesis, or they are being computed. */
export interface CommitmentRootsNotReady {
  readonly code: 'COMMITMENT_ROOTS_NOT_READY'
}

/** Proves an output by the newest commitment; `undefined` for one that is spent, or booked in a slot that is not committed. */
export type ProveUnspent = (
  view: Pick<OutputView, 'outputId'>,
) => Promise<Result<UnspentProof | undefined, CommitmentRootsNotReady>>

/** Reads the newest commitment with its roots, which the proofs of any number of outputs share. */
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
