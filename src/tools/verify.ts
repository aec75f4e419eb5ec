import { refusalMessage } from '../protocol/refusal-message.ts'
import { lineMessage, ofKind, readLine, refOf } from './read-line.ts'
import { verifyAccounts } from './verify-accounts.ts'
import { verifyBlock } from './verify-block.ts'
import { verifyGenesis } from './verify-genesis.ts'
import type { Verdict, VerifyDeps, VerifyError, VerifyInput } from './verify-input.ts'
import { verifyRewards } from './verify-rewards.ts'
import { verifySyntax, verifyTransaction } from './verify-transaction.ts'
import { verifyMana, verifyOwners, verifyRoots, verifyScores } from './verify-values.ts'

/** Applies the rules of the ledger to inputs, one line of JSON per input. */

/** Verifies one line of input. Every input, even a malformed one, results in one line of output. */
export async function verifyLine(deps: VerifyDeps, line: string): Promise<string> {
  const input = readLine(line)
  if (!input.ok) return answerLine(null, input)
  return answerLine(refOf(input.value), await verify(deps, input.value))
}

type Verifier = (deps: VerifyDeps, input: VerifyInput) => Verdict | Promise<Verdict>

/** Verifies an input of any kind. */
export async function verify(deps: VerifyDeps, input: VerifyInput): Promise<Verdict> {
  const verifier = ofKind(verifiers, input.kind)
  return verifier.ok ? verifier.value(deps, input) : verifier
}

const verifiers: ReadonlyMap<string, Verifier> = new Map<string, Verifier>([
  ['tx', verifyTransaction],
  ['syntax', verifySyntax],
  ['blocks', verifyBlock],
  ['mana', (_deps, input) => verifyMana(input)],
  ['scores', (_deps, input) => verifyScores(input)],
  ['roots', (_deps, input) => verifyRoots(input)],
  ['accounts', (_deps, input) => verifyAccounts(input)],
  ['rewards', (_deps, input) => verifyRewards(input)],
  ['genesis', (_deps, input) => verifyGenesis(input)],
  ['owners', (_deps, input) => verifyOwners(input)],
])

function answerLine(ref: unknown, verdict: Verdict): string {
  if (verdict.ok) return JSON.stringify({ ref, result: verdict.value })
  const { error } = verdict
  const path = 'path' in error ? error.path : ''
  return JSON.stringify({ ref, error: { code: error.code, path, message: verifyMessage(error) } })
}

/** The message for an input without a result. */
export function verifyMessage(error: VerifyError): string {
  switch (error.code) {
    case 'LINE_NOT_JSON':
    case 'KIND_UNKNOWN':
    case 'SIGNATURE_CHECK_BUSY':
      return lineMessage(error)
    case 'OUTPUT_UNKNOWN':
      return `${error.path} was never created`
    case 'SLOTS_NOT_ASCENDING':
      return `${error.path} must be later than the preceding slot`
    case 'REWARD_OVERFLOW':
      return `${error.path} exceeds 64 bits`
    default:
      return refusalMessage(error, 'the question')
  }
}
