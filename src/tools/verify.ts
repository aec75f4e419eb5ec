import { refusalMessage } from '../protocol/refusal-message.ts'
import { lineMessage, ofKind, readLine } from './read-line.ts'
import { verifyAccounts } from './verify-accounts.ts'
import { verifyBlock } from './verify-block.ts'
import { verifyGenesis } from './verify-genesis.ts'
import type { Question, Verdict, VerifyDeps, VerifyError } from './verify-input.ts'
import { verifyRewards } from './verify-rewards.ts'
import { verifySyntax, verifyTransaction } from './verify-transaction.ts'
import { verifyMana, verifyOwners, verifyRoots, verifyScores } from './verify-values.ts'

/** Applies the rules of the ledger to inputs, one line of JSON per input. */

/** Verifies one line of input. Every input, even a malformed one, results in one line of output. */
export async function verifyLine(deps: VerifyDeps, line: string): Promise<string> {
  const question = readLine(line)
  if (!question.ok) return answerLine(null, question)
  const { ref = null } = question.value
  return answerLine(ref, await verify(deps, question.value))
}

type Verifier = (deps: VerifyDeps, question: Question) => Verdict | Promise<Verdict>

/** Verifies an input of any kind. */
export async function verify(deps: VerifyDeps, question: Question): Promise<Verdict> {
  const verifier = ofKind(verifiers, question.kind)
  return verifier.ok ? verifier.value(deps, question) : verifier
}

const verifiers: ReadonlyMap<string, Verifier> = new Map<string, Verifier>([
  ['tx', verifyTransaction],
  ['syntax', verifySyntax],
  ['blocks', verifyBlock],
  ['mana', (_deps, question) => verifyMana(question)],
  ['scores', (_deps, question) => verifyScores(question)],
  ['roots', (_deps, question) => verifyRoots(question)],
  ['accounts', (_deps, question) => verifyAccounts(question)],
  ['rewards', (_deps, question) => verifyRewards(question)],
  ['genesis', (_deps, question) => verifyGenesis(question)],
  ['owners', (_deps, question) => verifyOwners(question)],
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
      return lineMessage(error)
    case 'SIGNATURE_CHECK_BUSY':
      return `${error.waiting} doubtful signatures already wait for their check; try again later`
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
