import { signaturesOf } from '../ledger/unlocks.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { identifyTransaction, type TransactionIdentity } from '../protocol/ids.ts'
import type { SignedTransaction } from '../protocol/transaction.ts'
import type { Signature } from '../protocol/unlocks.ts'
import type { SignatureCheckBusy, SignatureChecker } from './signatures.ts'

/** A transaction with all results that need no ledger: its ids, and which of its signatures are valid. */
export interface PreparedTransaction {
  readonly payload: SignedTransaction
  readonly identity: TransactionIdentity
  readonly isSignatureValid: (signature: Signature) => boolean
}

/** Prepares a transaction. An invalid signature is not an error here: it fails the transaction at booking. */
export async function prepareTransaction(
  checker: Pick<SignatureChecker, 'check'>,
  payload: SignedTransaction,
): Promise<Result<PreparedTransaction, SignatureCheckBusy>> {
  const identity = identifyTransaction(payload.transaction)
  const signatures = signaturesOf(payload.unlocks)
  const verdicts = await checker.check(
    signatures.map(({ publicKey, signature }) => ({
      publicKey,
      signature,
      message: identity.signingHash,
    })),
  )
  if (!verdicts.ok) return err(verdicts.error)
  const valid = new Set(signatures.filter((_, i) => verdicts.value[i]).map(keyOf))
  return ok({ payload, identity, isSignatureValid: (signature) => valid.has(keyOf(signature)) })
}

function keyOf({ publicKey, signature }: Signature): string {
  return publicKey + signature
}
