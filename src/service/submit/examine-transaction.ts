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

/** How a transaction was judged: the rules that hold, and its mana, by what it refers to. */

/** How a transaction was judged. */
export interface Examination extends Examined {
  /** The rule that it breaks; `undefined` where it breaks none, and where what it refers to was not there or was spent. */
  readonly broken: RuleName | undefined
  /** What is wrong with which input, output or sum; `undefined` where that is not known any more. */
  readonly failure: FailureInDetail | undefined
}

/**
 * Examines a transaction that was judged, as if none of its inputs were spent: they were not, or that is why it failed, and
 * then no rule was asked. `undefined` while it is pending, for that of the genesis, and where what it refers to is not kept.
 */
export async function examineTransaction(
  deps: SimulateDeps,
  { payload, state, failure }: TransactionView,
): Promise<Result<Examination | undefined, SignatureCheckBusy | NotOffered>> {
  if (payload === undefined || state === 'PENDING') return ok(undefined)
  const { transaction } = payload
  const offered = notOfferedFor(deps, transaction)
  if (!offered.ok) return offered
  // Those of a transaction that was accepted were right.
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
