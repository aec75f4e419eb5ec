import type { RuleName } from '../../ledger/execute.ts'
import { ok, type Result } from '../../lib/result.ts'
import { prepareTransaction } from '../../node/prepared-transaction.ts'
import type { SignatureCheckBusy } from '../../node/signatures.ts'
import { identifyTransaction } from '../../protocol/ids.ts'
import type { TransactionView } from '../blocks/read-transaction.ts'
import type { NotOffered } from '../network/not-offered.ts'
import {
  type Examined,
  examineAgainst,
  type FailureInDetail,
  ledgerFor,
  notOfferedFor,
  type SimulateDeps,
} from './simulate-transaction.ts'

/** Examination of an executed transaction: the rules that it fulfils, and its mana, from the data that it refers to. */

export interface Examination extends Examined {
  /** The broken rule; `undefined` if no rule is broken, and if an input or other reference was missing or spent. */
  readonly broken: RuleName | undefined
  /** The failing input, output or sum; `undefined` if it is no longer known. */
  readonly failure: FailureInDetail | undefined
}

/**
 * Examines an executed transaction as if none of its inputs were spent. At its execution they were unspent, or it failed
 * for a spent input before any rule applied. `undefined` for a pending transaction, for the genesis transaction, and if the
 * data that the transaction refers to is not kept.
 */
export async function examineTransaction(
  deps: SimulateDeps,
  { payload, state, failure }: TransactionView,
): Promise<Result<Examination | undefined, SignatureCheckBusy | NotOffered>> {
  if (payload === undefined || state === 'PENDING') return ok(undefined)
  const { transaction } = payload
  const offered = notOfferedFor(deps, transaction)
  if (!offered.ok) return offered
  // The signatures of an accepted transaction are valid.
  const prepared =
    failure === undefined
      ? ok({
          ...{ payload, identity: identifyTransaction(transaction) },
          isSignatureValid: () => true,
        })
      : await prepareTransaction(deps.signatures, payload)
  if (!prepared.ok) return prepared
  const ledger = await ledgerFor(deps, transaction)
  const outputById = new Map(
    [...ledger.outputById].map(([id, { output }]) => [id, { output, spentIn: undefined }]),
  )
  const seen = examineAgainst(deps, prepared.value, { ...ledger, outputById })
  const none = { broken: undefined, failure: undefined }
  if (failure === undefined)
    return ok(seen.outcome === 'ACCEPTED' ? { ...seen, ...none } : undefined)
  const isTheSame = seen.outcome === 'FAILED' && seen.failure.code === failure.code
  return ok(isTheSame ? seen : { passed: [], mana: undefined, ...none })
}
